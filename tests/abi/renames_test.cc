// The names that sources write against the tables: cuda.h's #defines (heddle/driver_renames.h) name the newest form of
// each function, and the per-thread variants have their suffix. Compiled twice: as it is, and with
// CUDA_API_PER_THREAD_DEFAULT_STREAM (see CMakeLists.txt).
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace {

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
constexpr bool kPerThread = true;
#else
constexpr bool kPerThread = false;
#endif

const std::string kNone = "", kPtds = kPerThread ? "_ptds" : "", kPtsz = kPerThread ? "_ptsz" : "";
// What a name in a source turns into.
#define EXPANDED_(name) #name
#define EXPANDED(name) EXPANDED_(name)
#define SUFFIX_None kNone
#define SUFFIX_Ptds kPtds
#define SUFFIX_Ptsz kPtsz

struct Row {
  const char* name;     // as the table has it
  const char* written;  // what it turns into in this source
  const char* suffix;   // of the version
  std::string stream;   // suffix of the per-thread variant
};

const Row kDriver[] = {
#define HEDDLE_DRIVER(base, suffix, version, needs, stream, coverage, parameters, names) \
  {#base, EXPANDED(base), #suffix, SUFFIX_##stream},
#define HEDDLE_DRIVER_NAME(base, suffix, version, stream, coverage)
#include "heddle/driver.def"
};

const Row kRuntime[] = {
#define HEDDLE_RUNTIME(name, needs, stream, coverage, parameters, names) {#name, EXPANDED(name), "", SUFFIX_##stream},
#define HEDDLE_RUNTIME_PLAIN(result, name, coverage, parameters, names) {#name, EXPANDED(name), "", ""},
#define HEDDLE_RUNTIME_COMPILER(name, needs, stream, coverage, parameters, names)
#define HEDDLE_RUNTIME_COMPILER_PLAIN(result, name, coverage, parameters, names)
#define HEDDLE_RUNTIME_NAME(name, stream, coverage)
#include "heddle/runtime.def"
};

TEST(Renames, driver_names_mean_the_newest_form) {
  // CUDA 13.0 leaves these at another form than the newest.
  const std::map<std::string, std::string> exceptions = {{"cuCtxGetDevice", "cuCtxGetDevice"},
                                                         {"cuCtxSynchronize", "cuCtxSynchronize"},
                                                         {"cuGraphInstantiate", "cuGraphInstantiateWithFlags"},
                                                         {"cuStreamGetCtx", "cuStreamGetCtx" + kPtsz}};
  std::map<std::string, std::string> newest;
  for (const Row& row : kDriver) newest[row.name] = std::string(row.name) + row.suffix + row.stream;
  EXPECT_GT(newest.size(), 400u);
  for (const auto& [base, name] : exceptions) newest[base] = name;
  for (const Row& row : kDriver) EXPECT_EQ(row.written, newest[row.name]);
}

TEST(Renames, runtime_names_change_only_for_the_per_thread_stream) {
  for (const Row& row : kRuntime) EXPECT_EQ(row.written, row.name + row.stream);
}

}  // namespace

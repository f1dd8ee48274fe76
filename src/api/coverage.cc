#include "api/coverage.h"

#include <span>

namespace heddle::api {
namespace {

struct CoverageRow {
  const char* name;
  int exported_names;
  enum Kind { kDone, kMissing, kNotApplicable, kUndocumented } kind;
  const char* reason;
};

constexpr int kNames_None = 1;
constexpr int kNames_Ptds = 2;
constexpr int kNames_Ptsz = 2;

#define HEDDLE_COVERAGE_Done CoverageRow::kDone, ""
#define HEDDLE_COVERAGE_Missing CoverageRow::kMissing, ""
#define HEDDLE_COVERAGE_NotApplicable(reason) CoverageRow::kNotApplicable, reason
// A name without a prototype that is merely missing is one that is not described publicly.
#define HEDDLE_NAME_COVERAGE_Done CoverageRow::kDone, ""
#define HEDDLE_NAME_COVERAGE_Missing CoverageRow::kUndocumented, ""
#define HEDDLE_NAME_COVERAGE_NotApplicable(reason) CoverageRow::kNotApplicable, reason

const CoverageRow kDriverRows[] = {
#define HEDDLE_DRIVER(base, suffix, version, needs, stream, coverage, parameters, names) \
  {#base #suffix, kNames_##stream, HEDDLE_COVERAGE_##coverage},
#define HEDDLE_DRIVER_NAME(base, suffix, version, stream, coverage) \
  {#base #suffix, kNames_##stream, HEDDLE_NAME_COVERAGE_##coverage},
#include "heddle/driver.def"
};
const CoverageRow kRuntimeRows[] = {
#define HEDDLE_RUNTIME(name, needs, stream, coverage, parameters, names) \
  {#name, kNames_##stream, HEDDLE_COVERAGE_##coverage},
#define HEDDLE_RUNTIME_PLAIN(result, name, coverage, parameters, names) {#name, 1, HEDDLE_COVERAGE_##coverage},
#define HEDDLE_RUNTIME_NAME(name, stream, coverage) {#name, kNames_##stream, HEDDLE_NAME_COVERAGE_##coverage},
#include "heddle/runtime.def"
};

std::string print_coverage(const char* title, const char* library, const char* table,
                           std::span<const CoverageRow> rows) {
  int total = 0, done = 0;
  for (const CoverageRow& row : rows) {
    total += row.exported_names;
    if (row.kind == CoverageRow::kDone) done += row.exported_names;
  }
  std::string page = std::string("# ") + title + "\n\nPrinted by `heddle_coverage` from `include/heddle/" + table +
                     "`; don't edit. `" + library + "` exports " + std::to_string(total) +
                     " names (a function with a per-thread default-stream twin counts twice). " + std::to_string(done) +
                     " work; the others return the API's not-supported error and say so once in the log.\n";
  const auto section = [&](CoverageRow::Kind kind, const char* heading, bool with_reason) {
    std::string lines;
    int names = 0;
    for (const CoverageRow& row : rows) {
      if (row.kind != kind) continue;
      names += row.exported_names;
      lines += std::string("- `") + row.name + "`" + (with_reason ? std::string(": ") + row.reason : "") + "\n";
    }
    if (names > 0) page += std::string("\n## ") + heading + " (" + std::to_string(names) + ")\n\n" + lines;
  };
  section(CoverageRow::kDone, "Done", false);
  section(CoverageRow::kMissing, "Missing", false);
  section(CoverageRow::kNotApplicable, "Not applicable on a CPU", true);
  section(CoverageRow::kUndocumented, "Exported by NVIDIA without a public description", false);
  return page;
}

}  // namespace

std::string print_driver_coverage() { return print_coverage("Driver API", "libcuda.so.1", "driver.def", kDriverRows); }
std::string print_runtime_coverage() {
  return print_coverage("Runtime API", "libcudart.so.13", "runtime.def", kRuntimeRows);
}

}  // namespace heddle::api

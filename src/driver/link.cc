// cuLink*: collects PTX (as text, in fatbins, in files), links it, and gives the linked texts as an image that
// cuModuleLoadData takes. NVIDIA's driver gives a cubin there, which programs only hand on. Tested by
// tests/api/driver/module_test.cc.
#include <cstring>

#include "base/log.h"
#include "driver/module.h"
#include "fatbin/fatbin.h"
#include "fatbin/pack.h"

namespace heddle::driver {
namespace {

class LinkState final : public Object {
 public:
  static constexpr Tag kTag = Tag::kLinkState;
  LinkState(Context* context, JitOptions options) : Object(Tag::kLinkState, context), options(options) {}
  Mutex mutex;
  JitOptions options;
  std::vector<std::string> texts GUARDED_BY(mutex);
  std::string image GUARDED_BY(mutex);
};

CUresult create(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  DRIVER_CHECK(state, "no place for the link's handle");
  *state = publish<CUlinkState>(make_ref<LinkState>(Context::current(), JitOptions(count, options, values)));
  return CUDA_SUCCESS;
}

CUresult add(CUlinkState handle, CUjitInputType type, fatbin::Bytes data, const char* name) {
  const Ref<LinkState> state = find_object<LinkState>(handle);
  if (!state) return fail(ErrorCode::kInvalidHandle, "null, stale or foreign link");
  if (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY && type != CU_JIT_INPUT_OBJECT &&
      type != CU_JIT_INPUT_LIBRARY) {
    state->options.report(
        std::string(name ? name : "input") +
            ": cubins and LTO-IR can't run on a CPU: give PTX (nvJitLink with -ptx turns LTO-IR into it)\n",
        true);
    return fail(ErrorCode::kNoBinaryForGpu, "an input without PTX");
  }
  auto sources = fatbin::load_ptx(data, compute_capability());
  if (!sources) {
    state->options.report(std::string(name ? name : "input") + ": no PTX in it\n", true);
    return result_of(sources.error());
  }
  std::vector<std::string_view> texts;
  for (const fatbin::PtxSource& source : *sources) texts.push_back(source.text);
  MutexLock lock(state->mutex);
  for (const std::string_view text : texts) state->texts.emplace_back(text);
  return CUDA_SUCCESS;
}

CUresult add_file(CUlinkState state, CUjitInputType type, const char* path) {
  DRIVER_ASSIGN(const std::string contents, read_image_file(path));
  return add(state, type, std::as_bytes(std::span(contents)), path);
}

CUresult add_data(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name) {
  DRIVER_CHECK(data && size, "no data");
  return add(state, type, {static_cast<const std::byte*>(data), size}, name);
}

}  // namespace

namespace impl {

CUresult cuLinkCreate(unsigned int option_count, CUjit_option* options, void** option_values, CUlinkState* state) {
  return create(option_count, options, option_values, state);
}
CUresult cuLinkCreate_v2(unsigned int option_count, CUjit_option* options, void** option_values, CUlinkState* state) {
  return create(option_count, options, option_values, state);
}
CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name, unsigned int,
                       CUjit_option*, void**) {
  return add_data(state, type, data, size, name);
}
CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name,
                          unsigned int, CUjit_option*, void**) {
  return add_data(state, type, data, size, name);
}
CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned int, CUjit_option*, void**) {
  return add_file(state, type, path);
}
CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned int, CUjit_option*,
                          void**) {
  return add_file(state, type, path);
}

CUresult cuLinkComplete(CUlinkState handle, void** image, size_t* size) {
  DRIVER_CHECK(image, "no place for the image");
  const Ref<LinkState> state = find_object<LinkState>(handle);
  if (!state) return fail(ErrorCode::kInvalidHandle, "null, stale or foreign link");
  MutexLock lock(state->mutex);
  DRIVER_CHECK(!state->texts.empty(), "nothing has been added");
  std::vector<std::string_view> texts(state->texts.begin(), state->texts.end());
  std::string log;
  const auto linked = parse_texts(texts, &log);
  state->options.report(log, !linked);
  if (!linked) return result_of(linked.error());
  // One text is its own image. Several go into a file of containers in a row, which loading links again.
  if (state->texts.size() == 1) {
    state->image = state->texts.front();
  } else {
    return fail(ErrorCode::kNotSupported, "linking several inputs is not there yet: load them as one -rdc fatbin");
  }
  *image = state->image.data();
  if (size) *size = state->image.size() + 1;
  return CUDA_SUCCESS;
}
CUresult cuLinkDestroy(CUlinkState handle) {
  const Ref<LinkState> state = find_object<LinkState>(handle);
  if (!state || !registry::remove(state.get())) return fail(ErrorCode::kInvalidHandle, "null, stale or foreign link");
  return CUDA_SUCCESS;
}

}  // namespace impl
}  // namespace heddle::driver

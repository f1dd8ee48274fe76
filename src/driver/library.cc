// Libraries and their kernels: cuLibrary*, cuKernel*. Tested by tests/api/driver/module_test.cc.
#include <algorithm>

#include "base/log.h"
#include "driver/function.h"
#include "driver/module.h"

namespace heddle::driver {

Result<Ref<Module>> Library::get_module(Context& context) {
  MutexLock lock(mutex_);
  for (auto loaded = modules_.begin(); loaded != modules_.end(); ++loaded) {
    if (loaded->context != context.id()) continue;
    if (registry::find(static_cast<Object*>(loaded->module.get()), Tag::kModule)) return loaded->module;
    modules_.erase(loaded);  // the context has been reset since
    break;
  }
  HEDDLE_ASSIGN(Ref<Module> module, load_module(context, code_, name_));
  modules_.push_back({context.id(), module});
  return module;
}

Ref<Kernel> Library::find_kernel(std::string_view name) {
  MutexLock lock(mutex_);
  const auto found = kernels_.find(name);
  if (found != kernels_.end()) return found->second;
  for (const compiler::KernelInfo& info : code_->kernels()) {
    if (info.name != name) continue;
    auto kernel = make_ref<Kernel>(this, &info);
    registry::add(kernel.get());
    kernels_.emplace(info.name, kernel);
    return kernel;
  }
  return {};
}

void Library::unload() {
  std::vector<Loaded> modules;
  std::map<std::string, Ref<Kernel>, std::less<>> kernels;
  {
    MutexLock lock(mutex_);
    modules.swap(modules_);
    kernels.swap(kernels_);
  }
  for (const auto& [name, kernel] : kernels) registry::remove(kernel.get());
  for (const Loaded& loaded : modules) {
    // Gone already if its context was destroyed.
    if (!registry::remove(loaded.module.get())) continue;
    loaded.module->owner()->streams().synchronize();
    loaded.module->unload();
  }
}

Result<Ref<Function>> Kernel::get_function(Context& context) {
  HEDDLE_ASSIGN(const Ref<Module> module, library_->get_module(context));
  Ref<Function> function = module->find_function(info_->name);
  if (!function) return Status(ErrorCode::kNotFound, "the library has no kernel of this name");
  MutexLock lock(mutex);
  for (const auto& [attribute, value] : attributes) {
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) function->max_dynamic_shared = value;
    if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) function->shared_carveout = value;
  }
  return function;
}

namespace {

constexpr const char* kStaleLibrary = "null, stale or foreign library";
constexpr const char* kStaleKernel = "null, stale or foreign kernel";

CUresult load(CUlibrary* library, const void* image, JitOptions options, std::string name) {
  std::string log;
  auto code = parse_image(image, true, &log);
  options.report(log, !code);
  if (!code) return result_of(code.error());
  *library = publish<CUlibrary>(make_ref<Library>(std::move(code).value(), std::move(name)));
  return CUDA_SUCCESS;
}

CUresult global(CUdeviceptr* pointer, size_t* bytes, CUlibrary handle, const char* name, bool managed) {
  DRIVER_CHECK(name, "no name");
  const Ref<Library> library = find_object<Library>(handle);
  if (!library) return fail(ErrorCode::kInvalidHandle, kStaleLibrary);
  Context* const context = Context::current();
  if (!context) return fail(ErrorCode::kInvalidContext, "no context is current on this thread");
  DRIVER_ASSIGN(const Ref<Module> module, library->get_module(*context));
  const auto found = module->data()->variables.find(name);
  if (found == module->data()->variables.end() || (managed && !found->second.variable->is_managed))
    return fail(ErrorCode::kNotFound, "the library has no such variable of this name");
  if (pointer) *pointer = found->second.address;
  if (bytes) *bytes = found->second.variable->size;
  return CUDA_SUCCESS;
}

}  // namespace

namespace impl {

CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option* jit_options, void** jit_option_values,
                           unsigned int jit_option_count, CUlibraryOption*, void**, unsigned int) {
  DRIVER_CHECK(library && image, "no place for the library's handle, or no image");
  return load(library, image, JitOptions(jit_option_count, jit_options, jit_option_values), "library");
}
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* jit_options,
                               void** jit_option_values, unsigned int jit_option_count, CUlibraryOption*, void**,
                               unsigned int) {
  DRIVER_CHECK(library, "no place for the library's handle");
  DRIVER_ASSIGN(const std::string contents, read_image_file(path));
  return load(library, contents.c_str(), JitOptions(jit_option_count, jit_options, jit_option_values), path);
}
CUresult cuLibraryUnload(CUlibrary handle) {
  const Ref<Library> library = find_object<Library>(handle);
  if (!library || !registry::remove(library.get())) return fail(ErrorCode::kInvalidHandle, kStaleLibrary);
  library->unload();
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary handle, const char* name) {
  DRIVER_CHECK(kernel && name, "no place for the kernel's handle, or no name");
  const Ref<Library> library = find_object<Library>(handle);
  if (!library) return fail(ErrorCode::kInvalidHandle, kStaleLibrary);
  const Ref<Kernel> found = library->find_kernel(name);
  if (!found) return fail(ErrorCode::kNotFound, "the library has no kernel of this name");
  *kernel = handle_of<CUkernel>(found.get());
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary handle) {
  DRIVER_CHECK(count, "no place for the count");
  const Ref<Library> library = find_object<Library>(handle);
  if (!library) return fail(ErrorCode::kInvalidHandle, kStaleLibrary);
  *count = static_cast<unsigned>(library->code().kernels().size());
  return CUDA_SUCCESS;
}
CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int kernel_count, CUlibrary handle) {
  DRIVER_CHECK(kernels || kernel_count == 0, "no place for the kernels");
  const Ref<Library> library = find_object<Library>(handle);
  if (!library) return fail(ErrorCode::kInvalidHandle, kStaleLibrary);
  unsigned at = 0;
  for (const compiler::KernelInfo& info : library->code().kernels()) {
    if (at == kernel_count) break;
    kernels[at++] = handle_of<CUkernel>(library->find_kernel(info.name).get());
  }
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary handle) {
  DRIVER_CHECK(module, "no place for the module's handle");
  const Ref<Library> library = find_object<Library>(handle);
  if (!library) return fail(ErrorCode::kInvalidHandle, kStaleLibrary);
  Context* const context = Context::current();
  if (!context) return fail(ErrorCode::kInvalidContext, "no context is current on this thread");
  DRIVER_ASSIGN(const Ref<Module> loaded, library->get_module(*context));
  *module = handle_of<CUmodule>(loaded.get());
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetGlobal(CUdeviceptr* pointer, size_t* bytes, CUlibrary library, const char* name) {
  return global(pointer, bytes, library, name, false);
}
CUresult cuLibraryGetManaged(CUdeviceptr* pointer, size_t* bytes, CUlibrary library, const char* name) {
  return global(pointer, bytes, library, name, true);
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel handle) {
  DRIVER_CHECK(function, "no place for the function's handle");
  const Ref<Kernel> kernel = find_object<Kernel>(handle);
  if (!kernel) return fail(ErrorCode::kInvalidHandle, kStaleKernel);
  DRIVER_ASSIGN(const Ref<Function> found, kernel->get_function(*Context::current()));
  *function = handle_of<CUfunction>(found.get());
  return CUDA_SUCCESS;
}
CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel handle) {
  DRIVER_CHECK(library, "no place for the library's handle");
  const Ref<Kernel> kernel = find_object<Kernel>(handle);
  if (!kernel) return fail(ErrorCode::kInvalidHandle, kStaleKernel);
  *library = handle_of<CUlibrary>(&kernel->library());
  return CUDA_SUCCESS;
}
CUresult cuKernelGetName(const char** name, CUkernel handle) {
  DRIVER_CHECK(name, "no place for the name");
  const Ref<Kernel> kernel = find_object<Kernel>(handle);
  if (!kernel) return fail(ErrorCode::kInvalidHandle, kStaleKernel);
  *name = kernel->info().name.c_str();
  return CUDA_SUCCESS;
}
CUresult cuKernelGetParamInfo(CUkernel handle, size_t index, size_t* offset, size_t* size) {
  DRIVER_CHECK(offset, "no place for the offset");
  const Ref<Kernel> kernel = find_object<Kernel>(handle);
  if (!kernel) return fail(ErrorCode::kInvalidHandle, kStaleKernel);
  return result_of(parameter_info(kernel->info(), index, offset, size));
}
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel handle, CUdevice number) {
  DRIVER_CHECK(value, "no place for the value");
  const Ref<Kernel> kernel = find_object<Kernel>(handle);
  if (!kernel) return fail(ErrorCode::kInvalidHandle, kStaleKernel);
  if (!find_device(number)) return fail(ErrorCode::kInvalidDevice, "no device with this number");
  if (attribute == CU_FUNC_ATTRIBUTE_PTX_VERSION) {
    *value = static_cast<int>(kernel->library().code().target());
    return CUDA_SUCCESS;
  }
  DRIVER_ASSIGN(*value, function_attribute(kernel->info(), attribute));
  MutexLock lock(kernel->mutex);
  if (const auto set = kernel->attributes.find(attribute); set != kernel->attributes.end()) *value = set->second;
  return CUDA_SUCCESS;
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel handle, CUdevice number) {
  const Ref<Kernel> kernel = find_object<Kernel>(handle);
  if (!kernel) return fail(ErrorCode::kInvalidHandle, kStaleKernel);
  if (!find_device(number)) return fail(ErrorCode::kInvalidDevice, "no device with this number");
  DRIVER_TRY(check_attribute_change(kernel->info(), attribute, value));
  MutexLock lock(kernel->mutex);
  kernel->attributes[attribute] = value;
  return CUDA_SUCCESS;
}
CUresult cuKernelSetCacheConfig(CUkernel handle, CUfunc_cache configuration, CUdevice number) {
  DRIVER_CHECK(configuration <= CU_FUNC_CACHE_PREFER_EQUAL, "unknown cache setting");
  if (!find_object<Kernel>(handle)) return fail(ErrorCode::kInvalidHandle, kStaleKernel);
  if (!find_device(number)) return fail(ErrorCode::kInvalidDevice, "no device with this number");
  return CUDA_SUCCESS;
}

}  // namespace impl
}  // namespace heddle::driver

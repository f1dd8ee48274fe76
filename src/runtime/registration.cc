#include "runtime/registration.h"

#include <cstring>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/log.h"

namespace heddle::runtime {
namespace {

struct FatBinary {
  const void* wrapper = nullptr;
  CUlibrary library = nullptr;
  cudaError_t load_error = cudaSuccess;  ///< latched: a fatbin that can't be loaded stays so
  bool managed_ready = false;
  struct ManagedVariable {
    void** host_pointer;
    std::string name;
    std::size_t bytes;
  };
  std::vector<ManagedVariable> managed;
  std::vector<const void*> stubs, variables;  ///< keys below, to forget them on unregistration
};

struct Kernel {
  FatBinary* binary;
  std::string name;
  std::atomic<CUkernel> handle{nullptr};
};

struct Variable {
  FatBinary* binary;
  std::string name;
  std::size_t bytes;
};

struct Registry {
  Mutex mutex;
  std::vector<std::unique_ptr<FatBinary>> binaries GUARDED_BY(mutex);
  std::unordered_map<const void*, std::unique_ptr<Kernel>> kernels GUARDED_BY(mutex);
  std::unordered_map<const void*, Variable> variables GUARDED_BY(mutex);
  std::atomic<bool> managed_waits{false};    ///< some managed variable has no address yet
  std::atomic<std::uint64_t> generation{1};  ///< grows with every unregistration: thread caches are stale then
};

/// Leaked on purpose: unregistration runs from exit handlers.
Registry& registry() {
  static Registry* const kRegistry = new Registry;
  return *kRegistry;
}

cudaError_t load(FatBinary& binary) REQUIRES(registry().mutex) {
  if (binary.library) return cudaSuccess;
  if (binary.load_error != cudaSuccess) return binary.load_error;
  binary.load_error =
      to_runtime(driver().cuLibraryLoadData(&binary.library, binary.wrapper, nullptr, nullptr, 0, nullptr, nullptr, 0));
  return binary.load_error;
}

cudaError_t bind_managed(FatBinary& binary) REQUIRES(registry().mutex) {
  if (binary.managed_ready || binary.managed.empty()) return cudaSuccess;
  CUDA_TRY(load(binary));
  for (const auto& variable : binary.managed) {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    CUDA_TRY(driver().cuLibraryGetManaged(&address, &bytes, binary.library, variable.name.c_str()));
    *variable.host_pointer = reinterpret_cast<void*>(address);
  }
  binary.managed_ready = true;
  return cudaSuccess;
}

/// A few stubs per thread, so that a launch by host address takes no lock.
struct CachedKernel {
  const void* stub = nullptr;
  CUkernel handle = nullptr;
  std::uint64_t generation = 0;
};
constexpr std::size_t kCachedKernels = 16;
thread_local CachedKernel cached_kernels[kCachedKernels];

CachedKernel& cache_slot(const void* stub) {
  return cached_kernels[(reinterpret_cast<std::uintptr_t>(stub) >> 4) % kCachedKernels];
}

}  // namespace

/// Why the last stub that asked got no kernel.
static constinit std::atomic<cudaError_t> absent_kernel_error{cudaErrorInvalidDeviceFunction};

cudaError_t why_no_kernel() { return absent_kernel_error.load(std::memory_order_relaxed); }

cudaError_t prepare_managed_variables() {
  Registry& r = registry();
  if (!r.managed_waits.load(std::memory_order_acquire)) [[likely]]
    return cudaSuccess;
  MutexLock lock(r.mutex);
  for (auto& binary : r.binaries) CUDA_TRY(bind_managed(*binary));
  r.managed_waits.store(false, std::memory_order_release);
  return cudaSuccess;
}

cudaError_t find_kernel(const void* stub, CUkernel* kernel) {
  Registry& r = registry();
  CachedKernel& cached = cache_slot(stub);
  if (cached.stub == stub && cached.generation == r.generation.load(std::memory_order_acquire)) [[likely]] {
    *kernel = cached.handle;
    return cudaSuccess;
  }
  {
    MutexLock lock(r.mutex);
    const auto found = r.kernels.find(stub);
    if (found != r.kernels.end()) {
      Kernel& k = *found->second;
      CUkernel handle = k.handle.load(std::memory_order_relaxed);
      if (!handle) {
        CUDA_TRY(load(*k.binary));
        const CUresult result = driver().cuLibraryGetKernel(&handle, k.binary->library, k.name.c_str());
        if (result == CUDA_ERROR_NOT_FOUND) return cudaErrorInvalidDeviceFunction;
        CUDA_TRY(result);
        k.handle.store(handle, std::memory_order_relaxed);
      }
      cached = {stub, handle, r.generation.load(std::memory_order_acquire)};
      *kernel = handle;
      return cudaSuccess;
    }
  }
  // Since CUDA 12 a cudaKernel_t may stand where a host function is asked for.
  const char* name;
  CUkernel candidate = static_cast<CUkernel>(const_cast<void*>(stub));
  if (!stub || driver().cuKernelGetName(&name, candidate) != CUDA_SUCCESS) return cudaErrorInvalidDeviceFunction;
  *kernel = candidate;
  return cudaSuccess;
}

cudaError_t find_symbol(const void* host_variable, Symbol* symbol) {
  Registry& r = registry();
  MutexLock lock(r.mutex);
  const auto found = r.variables.find(host_variable);
  if (found == r.variables.end()) return cudaErrorInvalidSymbol;
  CUDA_TRY(load(*found->second.binary));
  const CUresult result = driver().cuLibraryGetGlobal(&symbol->address, &symbol->bytes, found->second.binary->library,
                                                      found->second.name.c_str());
  return result == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidSymbol : detail::as_runtime(result);
}

namespace impl {

void** __cudaRegisterFatBinary(void* wrapper) {
  Registry& r = registry();
  MutexLock lock(r.mutex);
  r.binaries.push_back(std::make_unique<FatBinary>());
  r.binaries.back()->wrapper = wrapper;
  return reinterpret_cast<void**>(r.binaries.back().get());
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
  Registry& r = registry();
  MutexLock lock(r.mutex);
  for (auto it = r.binaries.begin(); it != r.binaries.end(); ++it) {
    FatBinary* binary = it->get();
    if (reinterpret_cast<void**>(binary) != handle) continue;
    for (const void* stub : binary->stubs) r.kernels.erase(stub);
    for (const void* variable : binary->variables) r.variables.erase(variable);
    r.generation.fetch_add(1, std::memory_order_acq_rel);
    // At exit the driver may be gone; after dlclose it is there and must not keep the image.
    if (binary->library && !unloading()) {
      if (driver().cuLibraryUnload(binary->library) != CUDA_SUCCESS) LOG_DEBUG("a library could not be unloaded");
    }
    r.binaries.erase(it);
    return;
  }
}

void __cudaRegisterFunction(void** handle, const char* stub, char*, const char* device_name, int, uint3*, uint3*, dim3*,
                            dim3*, int*) {
  Registry& r = registry();
  MutexLock lock(r.mutex);
  auto* binary = reinterpret_cast<FatBinary*>(handle);
  auto kernel = std::make_unique<Kernel>();
  kernel->binary = binary;
  kernel->name = device_name;
  r.kernels[stub] = std::move(kernel);
  binary->stubs.push_back(stub);
}

void __cudaRegisterVar(void** handle, char* host_variable, char*, const char* device_name, int, size_t bytes, int,
                       int) {
  Registry& r = registry();
  MutexLock lock(r.mutex);
  auto* binary = reinterpret_cast<FatBinary*>(handle);
  r.variables[host_variable] = Variable{binary, device_name, bytes};
  binary->variables.push_back(host_variable);
}

void __cudaRegisterManagedVar(void** handle, void** host_pointer, char*, const char* device_name, int, size_t bytes,
                              int, int) {
  Registry& r = registry();
  MutexLock lock(r.mutex);
  auto* binary = reinterpret_cast<FatBinary*>(handle);
  binary->managed.push_back({host_pointer, device_name, bytes});
  r.variables[host_pointer] = Variable{binary, device_name, bytes};
  binary->variables.push_back(host_pointer);
  r.managed_waits.store(true, std::memory_order_release);
}

void __cudaRegisterHostVar(void**, const char*, char*, size_t) {}

char __cudaInitModule(void** handle) {
  // Called before the first host access to a managed variable, perhaps before any other CUDA call.
  if (admit(api::Needs::kContext) != cudaSuccess) return 0;
  Registry& r = registry();
  MutexLock lock(r.mutex);
  for (auto& binary : r.binaries) {
    if (reinterpret_cast<void**>(binary.get()) != handle) continue;
    const cudaError_t error = bind_managed(*binary);
    if (error != cudaSuccess) {
      last_error() = error;
      LOG_ERROR("managed variables have no memory (error %d): host accesses to them will fault",
                static_cast<int>(error));
    }
    return error == cudaSuccess ? 1 : 0;
  }
  return 0;
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* stub) {
  if (!kernel) return cudaErrorInvalidValue;
  *kernel = nullptr;
  return find_kernel(stub, reinterpret_cast<CUkernel*>(kernel));
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* stub) {
  const cudaError_t error = impl::cudaGetKernel(kernel, stub);
  // Compiled stubs ask once, ignore this result and launch what they got: the launch has to say why there is nothing.
  if (error != cudaSuccess) absent_kernel_error.store(error, std::memory_order_relaxed);
  return error;
}

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  if (!pointer) return cudaErrorInvalidValue;
  Symbol found;
  CUDA_TRY(find_symbol(symbol, &found));
  *pointer = reinterpret_cast<void*>(found.address);
  return cudaSuccess;
}
cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  if (!size) return cudaErrorInvalidValue;
  Symbol found;
  CUDA_TRY(find_symbol(symbol, &found));
  *size = found.bytes;
  return cudaSuccess;
}

}  // namespace impl
}  // namespace heddle::runtime

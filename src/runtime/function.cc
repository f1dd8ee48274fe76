// Kernels as objects: attributes, parameters, occupancy, and libraries loaded at run time. Tested by tests/api/runtime.
#include "runtime/registration.h"

namespace heddle::runtime {
namespace {

cudaError_t find_function(const void* stub, CUfunction* function) {
  CUkernel kernel;
  CUDA_TRY(find_kernel(stub, &kernel));
  return detail::as_runtime(driver().cuKernelGetFunction(function, kernel));
}

}  // namespace

namespace impl {

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attributes, const void* stub) {
  if (!attributes) return cudaErrorInvalidValue;
  CUfunction function;
  CUDA_TRY(find_function(stub, &function));
  *attributes = {};
  const auto get = [&](CUfunction_attribute which, auto* field) {
    int value = 0;
    CUDA_TRY(driver().cuFuncGetAttribute(&value, which, function));
    *field = static_cast<std::remove_reference_t<decltype(*field)>>(value);
    return cudaSuccess;
  };
  CUDA_TRY(get(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &attributes->sharedSizeBytes));
  CUDA_TRY(get(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &attributes->constSizeBytes));
  CUDA_TRY(get(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &attributes->localSizeBytes));
  CUDA_TRY(get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &attributes->maxThreadsPerBlock));
  CUDA_TRY(get(CU_FUNC_ATTRIBUTE_NUM_REGS, &attributes->numRegs));
  CUDA_TRY(get(CU_FUNC_ATTRIBUTE_PTX_VERSION, &attributes->ptxVersion));
  CUDA_TRY(get(CU_FUNC_ATTRIBUTE_BINARY_VERSION, &attributes->binaryVersion));
  CUDA_TRY(get(CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, &attributes->cacheModeCA));
  CUDA_TRY(get(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &attributes->maxDynamicSharedSizeBytes));
  return get(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, &attributes->preferredShmemCarveout);
}

cudaError_t cudaFuncSetAttribute(const void* stub, enum cudaFuncAttribute attribute, int value) {
  CUfunction function;
  CUDA_TRY(find_function(stub, &function));
  return detail::as_runtime(driver().cuFuncSetAttribute(function, static_cast<CUfunction_attribute>(attribute), value));
}
cudaError_t cudaFuncSetCacheConfig(const void* stub, enum cudaFuncCache configuration) {
  CUfunction function;
  CUDA_TRY(find_function(stub, &function));
  return detail::as_runtime(driver().cuFuncSetCacheConfig(function, static_cast<CUfunc_cache>(configuration)));
}
cudaError_t cudaFuncSetSharedMemConfig(const void* stub, enum cudaSharedMemConfig configuration) {
  CUfunction function;
  CUDA_TRY(find_function(stub, &function));
  return detail::as_runtime(driver().cuFuncSetSharedMemConfig(function, static_cast<CUsharedconfig>(configuration)));
}
cudaError_t cudaFuncGetName(const char** name, const void* stub) {
  CUkernel kernel;
  CUDA_TRY(find_kernel(stub, &kernel));
  return detail::as_runtime(driver().cuKernelGetName(name, kernel));
}
cudaError_t cudaFuncGetParamInfo(const void* stub, size_t index, size_t* offset, size_t* size) {
  CUkernel kernel;
  CUDA_TRY(find_kernel(stub, &kernel));
  return detail::as_runtime(driver().cuKernelGetParamInfo(kernel, index, offset, size));
}
cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  if (!function) return cudaErrorInvalidValue;
  return find_function(symbol, function);
}

// ---- occupancy
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* stub, int block_size,
                                                                   size_t shared_bytes, unsigned int flags) {
  CUfunction function;
  CUDA_TRY(find_function(stub, &function));
  return detail::as_runtime(
      driver().cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, shared_bytes, flags));
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* stub, int block_size,
                                                          size_t shared_bytes) {
  return impl::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, stub, block_size, shared_bytes,
                                                                      cudaOccupancyDefault);
}
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* stub, int blocks, int block_size) {
  CUfunction function;
  CUDA_TRY(find_function(stub, &function));
  return detail::as_runtime(driver().cuOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, block_size));
}

// ---- libraries
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* image, enum cudaJitOption* jit_options,
                                void** jit_option_values, unsigned int jit_option_count,
                                enum cudaLibraryOption* library_options, void** library_option_values,
                                unsigned int library_option_count) {
  return detail::as_runtime(driver().cuLibraryLoadData(
      library, image, reinterpret_cast<CUjit_option*>(jit_options), jit_option_values, jit_option_count,
      reinterpret_cast<CUlibraryOption*>(library_options), library_option_values, library_option_count));
}
cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path, enum cudaJitOption* jit_options,
                                    void** jit_option_values, unsigned int jit_option_count,
                                    enum cudaLibraryOption* library_options, void** library_option_values,
                                    unsigned int library_option_count) {
  return detail::as_runtime(driver().cuLibraryLoadFromFile(
      library, path, reinterpret_cast<CUjit_option*>(jit_options), jit_option_values, jit_option_count,
      reinterpret_cast<CUlibraryOption*>(library_options), library_option_values, library_option_count));
}
cudaError_t cudaLibraryUnload(cudaLibrary_t library) { return detail::as_runtime(driver().cuLibraryUnload(library)); }
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return detail::as_runtime(driver().cuLibraryGetKernel(kernel, library, name));
}
cudaError_t cudaLibraryGetGlobal(void** pointer, size_t* bytes, cudaLibrary_t library, const char* name) {
  return detail::as_runtime(driver().cuLibraryGetGlobal(reinterpret_cast<CUdeviceptr*>(pointer), bytes, library, name));
}
cudaError_t cudaLibraryGetManaged(void** pointer, size_t* bytes, cudaLibrary_t library, const char* name) {
  return detail::as_runtime(
      driver().cuLibraryGetManaged(reinterpret_cast<CUdeviceptr*>(pointer), bytes, library, name));
}
cudaError_t cudaLibraryGetKernelCount(unsigned int* count, cudaLibrary_t library) {
  return detail::as_runtime(driver().cuLibraryGetKernelCount(count, library));
}
cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned int kernel_count, cudaLibrary_t library) {
  return detail::as_runtime(driver().cuLibraryEnumerateKernels(kernels, kernel_count, library));
}

}  // namespace impl
}  // namespace heddle::runtime

/* Overloads and templates of the runtime API for C++ (cuda_runtime.h includes this file). Each forwards to the C
 * function of the same name; what is more than that says so. Compiled by tests/abi. */
#ifndef HEDDLE_RUNTIME_TEMPLATES_H
#define HEDDLE_RUNTIME_TEMPLATES_H

#include <stddef.h>

#if __cplusplus >= 201103L
#include <utility>
#endif

namespace heddle_cuda {

template <class T>
inline void** untyped(T** pointer) {
  return reinterpret_cast<void**>(pointer);
}
/* Kernels are functions: no implicit conversion to const void* exists for them. */
template <class T>
inline const void* entry(T* kernel) {
  return reinterpret_cast<const void*>(kernel);
}
/* The address by which the runtime knows a variable of the device, also if its type overloads operator&. */
template <class T>
inline const void* symbol_address(const T& symbol) {
  return const_cast<const char*>(&reinterpret_cast<const volatile char&>(symbol));
}

}  // namespace heddle_cuda

/* ---- Allocation ---- */

template <class T>
inline cudaError_t cudaMalloc(T** pointer, size_t bytes) {
  return ::cudaMalloc(heddle_cuda::untyped(pointer), bytes);
}
template <class T>
inline cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
  return ::cudaMallocPitch(heddle_cuda::untyped(pointer), pitch, width, height);
}
template <class T>
inline cudaError_t cudaMallocManaged(T** pointer, size_t bytes, unsigned int flags = cudaMemAttachGlobal) {
  return ::cudaMallocManaged(heddle_cuda::untyped(pointer), bytes, flags);
}
static inline cudaError_t cudaMallocHost(void** pointer, size_t bytes, unsigned int flags) {
  return ::cudaHostAlloc(pointer, bytes, flags);
}
template <class T>
inline cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned int flags = 0) {
  return ::cudaHostAlloc(heddle_cuda::untyped(pointer), bytes, flags);
}
template <class T>
inline cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned int flags) {
  return ::cudaHostAlloc(heddle_cuda::untyped(pointer), bytes, flags);
}
template <class T>
inline cudaError_t cudaHostGetDevicePointer(T** pointer, void* host, unsigned int flags) {
  return ::cudaHostGetDevicePointer(heddle_cuda::untyped(pointer), host, flags);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t stream) {
  return ::cudaMallocAsync(heddle_cuda::untyped(pointer), bytes, stream);
}
static inline cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync(pointer, bytes, pool, stream);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync(heddle_cuda::untyped(pointer), bytes, pool, stream);
}
template <class T>
inline cudaError_t cudaMallocFromPoolAsync(T** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync(heddle_cuda::untyped(pointer), bytes, pool, stream);
}
template <class T>
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T* pointer, size_t length = 0,
                                            unsigned int flags = cudaMemAttachSingle) {
  return ::cudaStreamAttachMemAsync(stream, static_cast<void*>(pointer), length, flags);
}

/* ---- Batches: of typed pointers, and with one location or attribute for all ---- */

template <class T>
inline cudaError_t cudaMemPrefetchBatchAsync(T** pointers, size_t* sizes, size_t count,
                                             struct cudaMemLocation* locations, size_t* location_indices,
                                             size_t location_count, unsigned long long flags, cudaStream_t stream) {
  return ::cudaMemPrefetchBatchAsync(heddle_cuda::untyped(pointers), sizes, count, locations, location_indices,
                                     location_count, flags, stream);
}
template <class T>
inline cudaError_t cudaMemPrefetchBatchAsync(T** pointers, size_t* sizes, size_t count, struct cudaMemLocation location,
                                             unsigned long long flags, cudaStream_t stream) {
  size_t first = 0;
  return ::cudaMemPrefetchBatchAsync(heddle_cuda::untyped(pointers), sizes, count, &location, &first, 1, flags, stream);
}
template <class T>
inline cudaError_t cudaMemDiscardAndPrefetchBatchAsync(T** pointers, size_t* sizes, size_t count,
                                                       struct cudaMemLocation* locations, size_t* location_indices,
                                                       size_t location_count, unsigned long long flags,
                                                       cudaStream_t stream) {
  return ::cudaMemDiscardAndPrefetchBatchAsync(heddle_cuda::untyped(pointers), sizes, count, locations,
                                               location_indices, location_count, flags, stream);
}
template <class T>
inline cudaError_t cudaMemDiscardAndPrefetchBatchAsync(T** pointers, size_t* sizes, size_t count,
                                                       struct cudaMemLocation location, unsigned long long flags,
                                                       cudaStream_t stream) {
  size_t first = 0;
  return ::cudaMemDiscardAndPrefetchBatchAsync(heddle_cuda::untyped(pointers), sizes, count, &location, &first, 1,
                                               flags, stream);
}
template <class T, class U>
inline cudaError_t cudaMemcpyBatchAsync(T* const* destinations, U* const* sources, const size_t* sizes, size_t count,
                                        struct cudaMemcpyAttributes* attributes, size_t* attribute_indices,
                                        size_t attribute_count, cudaStream_t stream) {
  return ::cudaMemcpyBatchAsync(reinterpret_cast<void* const*>(destinations),
                                reinterpret_cast<const void* const*>(sources), sizes, count, attributes,
                                attribute_indices, attribute_count, stream);
}
template <class T, class U>
inline cudaError_t cudaMemcpyBatchAsync(T* const* destinations, U* const* sources, const size_t* sizes, size_t count,
                                        struct cudaMemcpyAttributes attribute, cudaStream_t stream) {
  size_t first = 0;
  return ::cudaMemcpyBatchAsync(reinterpret_cast<void* const*>(destinations),
                                reinterpret_cast<const void* const*>(sources), sizes, count, &attribute, &first, 1,
                                stream);
}

/* ---- Events and graphs ---- */

static inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return ::cudaEventCreateWithFlags(event, flags);
}
/* The parameters of the form before CUDA 12; the node and the log stay as they are. */
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, cudaGraphNode_t*, char*,
                                               size_t) {
  return ::cudaGraphInstantiate(executable, graph, 0);
}
/* The parameters of the form before CUDA 12. */
static inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                              cudaGraphNode_t* error_node, enum cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo info = cudaGraphExecUpdateResultInfo();
  const cudaError_t error = ::cudaGraphExecUpdate(executable, graph, &info);
  if (error_node != 0) *error_node = info.errorNode;
  if (result != 0) *result = info.result;
  return error;
}

#if __cplusplus >= 201103L
/* An object that the last graph to hold it deletes. */
template <class T>
inline cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, T* wrapped, unsigned int references,
                                        unsigned int flags) {
  return ::cudaUserObjectCreate(
      object, wrapped, [](void* pointer) { delete static_cast<T*>(pointer); }, references, flags);
}
template <class T>
inline cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, T* wrapped, unsigned int references,
                                        cudaUserObjectFlags flags) {
  return cudaUserObjectCreate(object, wrapped, references, static_cast<unsigned int>(flags));
}
#endif

/* ---- Launches ---- */

template <class T>
inline cudaError_t cudaLaunchKernel(T* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
                                    cudaStream_t stream = 0) {
  return ::cudaLaunchKernel(heddle_cuda::entry(kernel), grid, block, arguments, shared_bytes, stream);
}
template <class T>
inline cudaError_t cudaLaunchCooperativeKernel(T* kernel, dim3 grid, dim3 block, void** arguments,
                                               size_t shared_bytes = 0, cudaStream_t stream = 0) {
  return ::cudaLaunchCooperativeKernel(heddle_cuda::entry(kernel), grid, block, arguments, shared_bytes, stream);
}
#if __cplusplus >= 201103L
/* The arguments are converted to the kernel's parameter types first. One pointer more than arguments, so that a kernel
 * without any has an array too. */
template <class... Parameters, class... Arguments>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* configuration, void (*kernel)(Parameters...),
                                      Arguments&&... arguments) {
  return [&](Parameters... converted) {
    void* pointers[sizeof...(Parameters) + 1] = {
        const_cast<void*>(static_cast<const volatile void*>(&reinterpret_cast<const volatile char&>(converted)))...};
    return ::cudaLaunchKernelExC(configuration, heddle_cuda::entry(kernel), pointers);
  }(std::forward<Arguments>(arguments)...);
}
/* A kernel handle doesn't tell its parameters: the arguments must have their exact types. */
template <class... Arguments>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* configuration, const cudaKernel_t kernel,
                                      Arguments&&... arguments) {
  void* pointers[sizeof...(Arguments) + 1] = {
      const_cast<void*>(static_cast<const volatile void*>(&reinterpret_cast<const volatile char&>(arguments)))...};
  return ::cudaLaunchKernelExC(configuration, reinterpret_cast<const void*>(kernel), pointers);
}
#endif

/* ---- Occupancy ---- */

template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T kernel, int block_size,
                                                                 size_t shared_bytes) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, reinterpret_cast<const void*>(kernel), block_size,
                                                         shared_bytes);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, T kernel, int block_size,
                                                                          size_t shared_bytes, unsigned int flags) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, reinterpret_cast<const void*>(kernel),
                                                                  block_size, shared_bytes, flags);
}
template <class T>
inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, T* kernel, int blocks, int block_size) {
  return ::cudaOccupancyAvailableDynamicSMemPerBlock(bytes, heddle_cuda::entry(kernel), blocks, block_size);
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialClusterSize(int* cluster_size, T* kernel,
                                                        const cudaLaunchConfig_t* configuration) {
  return ::cudaOccupancyMaxPotentialClusterSize(cluster_size, heddle_cuda::entry(kernel), configuration);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, T* kernel, const cudaLaunchConfig_t* configuration) {
  return ::cudaOccupancyMaxActiveClusters(clusters, heddle_cuda::entry(kernel), configuration);
}

/* The block size that keeps most threads of a multiprocessor busy, and the smallest grid that fills the device with
 * it. Tries the multiples of a warp downwards from the largest block allowed; the first best one, so the largest, wins.
 * `shared_bytes_of_block` maps a block size to the bytes of dynamic shared memory it needs; a limit of 0 means none. */
template <class SharedBytes, class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int* grid_size, int* block_size, T kernel,
                                                                           SharedBytes shared_bytes_of_block,
                                                                           int block_size_limit = 0,
                                                                           unsigned int flags = 0) {
  if (grid_size == 0 || block_size == 0 || !kernel) return cudaErrorInvalidValue;
  int device = 0, threads_per_multiprocessor = 0, warp = 0, threads_per_block = 0, multiprocessors = 0;
  cudaFuncAttributes function;
  cudaError_t error = ::cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&threads_per_multiprocessor, cudaDevAttrMaxThreadsPerMultiProcessor, device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&threads_per_block, cudaDevAttrMaxThreadsPerBlock, device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess) error = ::cudaFuncGetAttributes(&function, reinterpret_cast<const void*>(kernel));
  if (error != cudaSuccess) return error;

  int limit = function.maxThreadsPerBlock < threads_per_block ? function.maxThreadsPerBlock : threads_per_block;
  if (block_size_limit > 0 && block_size_limit < limit) limit = block_size_limit;
  int best_threads = 0, best_blocks = 0, best_size = 0;
  for (int rounded = (limit + warp - 1) / warp * warp; rounded > 0; rounded -= warp) {
    const int size = rounded < limit ? rounded : limit;
    int blocks = 0;
    error = ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, reinterpret_cast<const void*>(kernel),
                                                                     size, shared_bytes_of_block(size), flags);
    if (error != cudaSuccess) return error;
    if (blocks * size > best_threads) {
      best_threads = blocks * size;
      best_blocks = blocks;
      best_size = size;
    }
    if (best_threads == threads_per_multiprocessor) break;
  }
  *grid_size = best_blocks * multiprocessors;
  *block_size = best_size;
  return cudaSuccess;
}
template <class SharedBytes, class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid_size, int* block_size, T kernel,
                                                                  SharedBytes shared_bytes_of_block,
                                                                  int block_size_limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(grid_size, block_size, kernel, shared_bytes_of_block,
                                                                 block_size_limit, cudaOccupancyDefault);
}

namespace heddle_cuda {
struct ConstantBytes {
  size_t bytes;
  explicit ConstantBytes(size_t n) : bytes(n) {}
  size_t operator()(int) const { return bytes; }
};
}  // namespace heddle_cuda

template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* grid_size, int* block_size, T kernel,
                                                               size_t shared_bytes = 0, int block_size_limit = 0,
                                                               unsigned int flags = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
      grid_size, block_size, kernel, heddle_cuda::ConstantBytes(shared_bytes), block_size_limit, flags);
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size, T kernel,
                                                      size_t shared_bytes = 0, int block_size_limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeWithFlags(grid_size, block_size, kernel, shared_bytes, block_size_limit,
                                                     cudaOccupancyDefault);
}

/* ---- Kernels, libraries ---- */

template <class T>
inline cudaError_t cudaFuncSetCacheConfig(T* kernel, enum cudaFuncCache configuration) {
  return ::cudaFuncSetCacheConfig(heddle_cuda::entry(kernel), configuration);
}
template <class T>
inline cudaError_t cudaFuncSetSharedMemConfig(T* kernel, enum cudaSharedMemConfig configuration) {
  return ::cudaFuncSetSharedMemConfig(heddle_cuda::entry(kernel), configuration);
}
template <class T>
inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attributes, T* kernel) {
  return ::cudaFuncGetAttributes(attributes, heddle_cuda::entry(kernel));
}
template <class T>
inline cudaError_t cudaFuncSetAttribute(T* kernel, enum cudaFuncAttribute attribute, int value) {
  return ::cudaFuncSetAttribute(heddle_cuda::entry(kernel), attribute, value);
}
template <class T>
inline cudaError_t cudaFuncGetName(const char** name, T* kernel) {
  return ::cudaFuncGetName(name, heddle_cuda::entry(kernel));
}
template <class T>
inline cudaError_t cudaGetKernel(cudaKernel_t* handle, T* kernel) {
  return ::cudaGetKernel(handle, heddle_cuda::entry(kernel));
}
template <class T>
inline cudaError_t cudaLibraryGetGlobal(T** pointer, size_t* bytes, cudaLibrary_t library, const char* name) {
  return ::cudaLibraryGetGlobal(heddle_cuda::untyped(pointer), bytes, library, name);
}
template <class T>
inline cudaError_t cudaLibraryGetManaged(T** pointer, size_t* bytes, cudaLibrary_t library, const char* name) {
  return ::cudaLibraryGetManaged(heddle_cuda::untyped(pointer), bytes, library, name);
}
template <class T>
inline cudaError_t cudaLibraryGetUnifiedFunction(T** pointer, cudaLibrary_t library, const char* symbol) {
  return ::cudaLibraryGetUnifiedFunction(reinterpret_cast<void**>(pointer), library, symbol);
}

/* ---- Variables of the device. Only a compiler of CUDA C++ knows them as variables. ---- */

#ifdef __CUDACC__
template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* source, size_t count, size_t offset = 0,
                                      enum cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::cudaMemcpyToSymbol(heddle_cuda::symbol_address(symbol), source, count, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* source, size_t count, size_t offset = 0,
                                           enum cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0) {
  return ::cudaMemcpyToSymbolAsync(heddle_cuda::symbol_address(symbol), source, count, offset, kind, stream);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void* destination, const T& symbol, size_t count, size_t offset = 0,
                                        enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::cudaMemcpyFromSymbol(destination, heddle_cuda::symbol_address(symbol), count, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void* destination, const T& symbol, size_t count, size_t offset = 0,
                                             enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                             cudaStream_t stream = 0) {
  return ::cudaMemcpyFromSymbolAsync(destination, heddle_cuda::symbol_address(symbol), count, offset, kind, stream);
}
template <class T>
inline cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
  return ::cudaGetSymbolAddress(pointer, heddle_cuda::symbol_address(symbol));
}
template <class T>
inline cudaError_t cudaGetSymbolSize(size_t* size, const T& symbol) {
  return ::cudaGetSymbolSize(size, heddle_cuda::symbol_address(symbol));
}
template <class T>
inline cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                  const cudaGraphNode_t* dependencies, size_t dependency_count,
                                                  const T& symbol, const void* source, size_t count, size_t offset,
                                                  enum cudaMemcpyKind kind) {
  return ::cudaGraphAddMemcpyNodeToSymbol(node, graph, dependencies, dependency_count,
                                          heddle_cuda::symbol_address(symbol), source, count, offset, kind);
}
template <class T>
inline cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                                    const cudaGraphNode_t* dependencies, size_t dependency_count,
                                                    void* destination, const T& symbol, size_t count, size_t offset,
                                                    enum cudaMemcpyKind kind) {
  return ::cudaGraphAddMemcpyNodeFromSymbol(node, graph, dependencies, dependency_count, destination,
                                            heddle_cuda::symbol_address(symbol), count, offset, kind);
}
template <class T>
inline cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const T& symbol, const void* source,
                                                        size_t count, size_t offset, enum cudaMemcpyKind kind) {
  return ::cudaGraphMemcpyNodeSetParamsToSymbol(node, heddle_cuda::symbol_address(symbol), source, count, offset, kind);
}
template <class T>
inline cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* destination, const T& symbol,
                                                          size_t count, size_t offset, enum cudaMemcpyKind kind) {
  return ::cudaGraphMemcpyNodeSetParamsFromSymbol(node, destination, heddle_cuda::symbol_address(symbol), count, offset,
                                                  kind);
}
template <class T>
inline cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                            const T& symbol, const void* source, size_t count,
                                                            size_t offset, enum cudaMemcpyKind kind) {
  return ::cudaGraphExecMemcpyNodeSetParamsToSymbol(executable, node, heddle_cuda::symbol_address(symbol), source,
                                                    count, offset, kind);
}
template <class T>
inline cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                              void* destination, const T& symbol, size_t count,
                                                              size_t offset, enum cudaMemcpyKind kind) {
  return ::cudaGraphExecMemcpyNodeSetParamsFromSymbol(executable, node, destination,
                                                      heddle_cuda::symbol_address(symbol), count, offset, kind);
}
#endif /* __CUDACC__ */

#endif /* HEDDLE_RUNTIME_TEMPLATES_H */

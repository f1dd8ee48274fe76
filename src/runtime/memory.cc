// Memory: device, pitched, pinned, registered, managed; what is known of pointers; pools and stream-ordered allocation.
// Tested by tests/api/runtime.
#include "runtime/state.h"

namespace heddle::runtime {
namespace {

CUmemLocation to_driver(const cudaMemLocation& location) {
  CUmemLocation l = {};
  l.type = static_cast<CUmemLocationType>(location.type);
  l.id = location.id;
  return l;
}

}  // namespace

namespace impl {

cudaError_t cudaMalloc(void** pointer, size_t size) {
  if (!pointer) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  return detail::as_runtime(driver().cuMemAlloc_v2(reinterpret_cast<CUdeviceptr*>(pointer), size));
}

cudaError_t cudaFree(void* pointer) {
  return pointer ? detail::as_runtime(driver().cuMemFree_v2(address_of(pointer))) : cudaSuccess;
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  if (!pointer || !pitch) return cudaErrorInvalidValue;
  *pointer = nullptr;
  *pitch = 0;
  if (width == 0 || height == 0) return cudaSuccess;
  return detail::as_runtime(
      driver().cuMemAllocPitch_v2(reinterpret_cast<CUdeviceptr*>(pointer), pitch, width, height, 4));
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr* pointer, struct cudaExtent extent) {
  if (!pointer) return cudaErrorInvalidValue;
  *pointer = {nullptr, 0, extent.width, extent.height};
  return impl::cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width, extent.height * extent.depth);
}

cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned int flags) {
  if (!pointer) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  return detail::as_runtime(driver().cuMemHostAlloc(pointer, size, flags));
}
cudaError_t cudaMallocHost(void** pointer, size_t size) {
  return impl::cudaHostAlloc(pointer, size, cudaHostAllocDefault);
}
cudaError_t cudaFreeHost(void* pointer) {
  return pointer ? detail::as_runtime(driver().cuMemFreeHost(pointer)) : cudaSuccess;
}
cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned int flags) {
  return detail::as_runtime(driver().cuMemHostRegister_v2(pointer, size, flags));
}
cudaError_t cudaHostUnregister(void* pointer) { return detail::as_runtime(driver().cuMemHostUnregister(pointer)); }
cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned int flags) {
  return detail::as_runtime(
      driver().cuMemHostGetDevicePointer_v2(reinterpret_cast<CUdeviceptr*>(device_pointer), host_pointer, flags));
}
cudaError_t cudaHostGetFlags(unsigned int* flags, void* host_pointer) {
  return detail::as_runtime(driver().cuMemHostGetFlags(flags, host_pointer));
}

cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned int flags) {
  if (!pointer) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (size == 0) return cudaErrorInvalidValue;
  return detail::as_runtime(driver().cuMemAllocManaged(reinterpret_cast<CUdeviceptr*>(pointer), size, flags));
}
cudaError_t cudaMemAdvise(const void* pointer, size_t count, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location) {
  return detail::as_runtime(
      driver().cuMemAdvise_v2(address_of(pointer), count, static_cast<CUmem_advise>(advice), to_driver(location)));
}
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t count, struct cudaMemLocation location, unsigned int flags,
                                 cudaStream_t stream) {
  return detail::as_runtime(
      driver().cuMemPrefetchAsync_v2(address_of(pointer), count, to_driver(location), flags, stream_of(stream)));
}
cudaError_t cudaMemRangeGetAttribute(void* data, size_t size, enum cudaMemRangeAttribute attribute, const void* pointer,
                                     size_t count) {
  return detail::as_runtime(driver().cuMemRangeGetAttribute(data, size, static_cast<CUmem_range_attribute>(attribute),
                                                            address_of(pointer), count));
}
cudaError_t cudaMemRangeGetAttributes(void** data, size_t* sizes, enum cudaMemRangeAttribute* attributes,
                                      size_t attribute_count, const void* pointer, size_t count) {
  return detail::as_runtime(driver().cuMemRangeGetAttributes(
      data, sizes, reinterpret_cast<CUmem_range_attribute*>(attributes), attribute_count, address_of(pointer), count));
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t length, unsigned int flags) {
  return detail::as_runtime(driver().cuStreamAttachMemAsync(stream_of(stream), address_of(pointer), length, flags));
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return detail::as_runtime(driver().cuMemGetInfo_v2(free_bytes, total_bytes));
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes* attributes, const void* pointer) {
  if (!attributes) return cudaErrorInvalidValue;
  *attributes = {};
  attributes->device = -2;
  unsigned memory_type = 0, managed = 0;
  CUdeviceptr device_pointer = 0;
  void* host_pointer = nullptr;
  int ordinal = -2;
  CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                  CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_HOST_POINTER,
                                  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* values[] = {&memory_type, &managed, &device_pointer, &host_pointer, &ordinal};
  CUDA_TRY(driver().cuPointerGetAttributes(5, wanted, values, address_of(pointer)));
  if (managed) {
    attributes->type = cudaMemoryTypeManaged;
  } else if (memory_type == CU_MEMORYTYPE_DEVICE || memory_type == CU_MEMORYTYPE_ARRAY) {
    attributes->type = cudaMemoryTypeDevice;
  } else if (memory_type == CU_MEMORYTYPE_HOST) {
    attributes->type = cudaMemoryTypeHost;
  } else {
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->hostPointer = const_cast<void*>(pointer);
    return cudaSuccess;
  }
  attributes->device = ordinal;
  attributes->devicePointer = reinterpret_cast<void*>(device_pointer);
  attributes->hostPointer = host_pointer;
  return cudaSuccess;
}

// ---- pools
cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) {
  if (!pointer) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  return detail::as_runtime(driver().cuMemAllocAsync(reinterpret_cast<CUdeviceptr*>(pointer), size, stream_of(stream)));
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return pointer ? detail::as_runtime(driver().cuMemFreeAsync(address_of(pointer), stream_of(stream))) : cudaSuccess;
}
cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  if (!pointer) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  return detail::as_runtime(
      driver().cuMemAllocFromPoolAsync(reinterpret_cast<CUdeviceptr*>(pointer), size, pool, stream_of(stream)));
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return detail::as_runtime(driver().cuDeviceGetDefaultMemPool(pool, device));
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return detail::as_runtime(driver().cuDeviceGetMemPool(pool, device));
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return detail::as_runtime(driver().cuDeviceSetMemPool(device, pool));
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const struct cudaMemPoolProps* properties) {
  static_assert(sizeof(cudaMemPoolProps) == sizeof(CUmemPoolProps), "passed through as it is");
  return detail::as_runtime(driver().cuMemPoolCreate(pool, reinterpret_cast<const CUmemPoolProps*>(properties)));
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) { return detail::as_runtime(driver().cuMemPoolDestroy(pool)); }
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_kept) {
  return detail::as_runtime(driver().cuMemPoolTrimTo(pool, bytes_kept));
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void* value) {
  return detail::as_runtime(driver().cuMemPoolSetAttribute(pool, static_cast<CUmemPool_attribute>(attribute), value));
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void* value) {
  return detail::as_runtime(driver().cuMemPoolGetAttribute(pool, static_cast<CUmemPool_attribute>(attribute), value));
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc* operations, size_t count) {
  static_assert(sizeof(cudaMemAccessDesc) == sizeof(CUmemAccessDesc), "passed through as it is");
  return detail::as_runtime(
      driver().cuMemPoolSetAccess(pool, reinterpret_cast<const CUmemAccessDesc*>(operations), count));
}
cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags* flags, cudaMemPool_t pool, struct cudaMemLocation* location) {
  if (!location) return cudaErrorInvalidValue;
  CUmemLocation l = to_driver(*location);
  return detail::as_runtime(driver().cuMemPoolGetAccess(reinterpret_cast<CUmemAccess_flags*>(flags), pool, &l));
}

// ---- other processes
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  return detail::as_runtime(driver().cuIpcGetMemHandle(reinterpret_cast<CUipcMemHandle*>(handle), address_of(pointer)));
}
cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned int flags) {
  CUipcMemHandle h;
  static_assert(sizeof h == sizeof handle);
  __builtin_memcpy(&h, &handle, sizeof h);
  return detail::as_runtime(driver().cuIpcOpenMemHandle_v2(reinterpret_cast<CUdeviceptr*>(pointer), h, flags));
}
cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  return detail::as_runtime(driver().cuIpcCloseMemHandle(address_of(pointer)));
}
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  return detail::as_runtime(driver().cuIpcGetEventHandle(reinterpret_cast<CUipcEventHandle*>(handle), event));
}
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  CUipcEventHandle h;
  static_assert(sizeof h == sizeof handle);
  __builtin_memcpy(&h, &handle, sizeof h);
  return detail::as_runtime(driver().cuIpcOpenEventHandle(event, h));
}

}  // namespace impl
}  // namespace heddle::runtime

// Devices: choice, attributes, properties, limits, peers, and the versions of driver and runtime.
// Tested by tests/api/runtime.
#include <algorithm>
#include <cstring>
#include <memory>

#include "runtime/state.h"

namespace heddle::runtime {
namespace {

/// Which attribute fills which field of cudaDeviceProp.
struct PropertyRow {
  int cudaDeviceProp::* field;
  CUdevice_attribute attribute;
};
constexpr PropertyRow kIntProperties[] = {
    {&cudaDeviceProp::regsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
    {&cudaDeviceProp::warpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
    {&cudaDeviceProp::maxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {&cudaDeviceProp::major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
    {&cudaDeviceProp::minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
    {&cudaDeviceProp::multiProcessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    {&cudaDeviceProp::integrated, CU_DEVICE_ATTRIBUTE_INTEGRATED},
    {&cudaDeviceProp::canMapHostMemory, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY},
    {&cudaDeviceProp::maxTexture1D, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH},
    {&cudaDeviceProp::maxTexture1DMipmap, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH},
    {&cudaDeviceProp::maxTextureCubemap, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH},
    {&cudaDeviceProp::maxSurface1D, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH},
    {&cudaDeviceProp::maxSurfaceCubemap, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH},
    {&cudaDeviceProp::concurrentKernels, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS},
    {&cudaDeviceProp::ECCEnabled, CU_DEVICE_ATTRIBUTE_ECC_ENABLED},
    {&cudaDeviceProp::pciBusID, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID},
    {&cudaDeviceProp::pciDeviceID, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID},
    {&cudaDeviceProp::pciDomainID, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID},
    {&cudaDeviceProp::tccDriver, CU_DEVICE_ATTRIBUTE_TCC_DRIVER},
    {&cudaDeviceProp::asyncEngineCount, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT},
    {&cudaDeviceProp::unifiedAddressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING},
    {&cudaDeviceProp::memoryBusWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH},
    {&cudaDeviceProp::l2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
    {&cudaDeviceProp::persistingL2CacheMaxSize, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE},
    {&cudaDeviceProp::maxThreadsPerMultiProcessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
    {&cudaDeviceProp::streamPrioritiesSupported, CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED},
    {&cudaDeviceProp::globalL1CacheSupported, CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED},
    {&cudaDeviceProp::localL1CacheSupported, CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED},
    {&cudaDeviceProp::regsPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR},
    {&cudaDeviceProp::managedMemory, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY},
    {&cudaDeviceProp::isMultiGpuBoard, CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD},
    {&cudaDeviceProp::multiGpuBoardGroupID, CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID},
    {&cudaDeviceProp::hostNativeAtomicSupported, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED},
    {&cudaDeviceProp::pageableMemoryAccess, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS},
    {&cudaDeviceProp::concurrentManagedAccess, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS},
    {&cudaDeviceProp::computePreemptionSupported, CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED},
    {&cudaDeviceProp::canUseHostPointerForRegisteredMem, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM},
    {&cudaDeviceProp::cooperativeLaunch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH},
    {&cudaDeviceProp::pageableMemoryAccessUsesHostPageTables,
     CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES},
    {&cudaDeviceProp::directManagedMemAccessFromHost, CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST},
    {&cudaDeviceProp::maxBlocksPerMultiProcessor, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR},
    {&cudaDeviceProp::accessPolicyMaxWindowSize, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE},
    {&cudaDeviceProp::hostRegisterSupported, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED},
    {&cudaDeviceProp::sparseCudaArraySupported, CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED},
    {&cudaDeviceProp::hostRegisterReadOnlySupported, CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED},
    {&cudaDeviceProp::timelineSemaphoreInteropSupported, CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED},
    {&cudaDeviceProp::memoryPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED},
    {&cudaDeviceProp::gpuDirectRDMASupported, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED},
    {&cudaDeviceProp::gpuDirectRDMAWritesOrdering, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING},
    {&cudaDeviceProp::deferredMappingCudaArraySupported, CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED},
    {&cudaDeviceProp::ipcEventSupported, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED},
    {&cudaDeviceProp::clusterLaunch, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH},
    {&cudaDeviceProp::unifiedFunctionPointers, CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS},
    {&cudaDeviceProp::deviceNumaConfig, CU_DEVICE_ATTRIBUTE_NUMA_CONFIG},
    {&cudaDeviceProp::deviceNumaId, CU_DEVICE_ATTRIBUTE_NUMA_ID},
    {&cudaDeviceProp::mpsEnabled, CU_DEVICE_ATTRIBUTE_MPS_ENABLED},
    {&cudaDeviceProp::hostNumaId, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID},
    {&cudaDeviceProp::hostNumaMultinodeIpcSupported, CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED},
};

struct SizePropertyRow {
  std::size_t cudaDeviceProp::* field;
  CUdevice_attribute attribute;
};
constexpr SizePropertyRow kSizeProperties[] = {
    {&cudaDeviceProp::sharedMemPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
    {&cudaDeviceProp::memPitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH},
    {&cudaDeviceProp::totalConstMem, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY},
    {&cudaDeviceProp::textureAlignment, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT},
    {&cudaDeviceProp::texturePitchAlignment, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT},
    {&cudaDeviceProp::surfaceAlignment, CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT},
    {&cudaDeviceProp::sharedMemPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
    {&cudaDeviceProp::sharedMemPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
    {&cudaDeviceProp::reservedSharedMemPerBlock, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK},
};

cudaError_t attribute_of(int* value, CUdevice_attribute attribute, int device) {
  return detail::as_runtime(driver().cuDeviceGetAttribute(value, attribute, device));
}

/// Fields that are arrays: each from consecutive attributes given one by one.
cudaError_t fill_array(int* values, std::initializer_list<CUdevice_attribute> attributes, int device) {
  for (CUdevice_attribute attribute : attributes) CUDA_TRY(attribute_of(values++, attribute, device));
  return cudaSuccess;
}

cudaError_t check_device(int device) {
  return device >= 0 && device < device_count() ? cudaSuccess : cudaErrorInvalidDevice;
}

struct PropertyCache {
  Mutex mutex;
  std::vector<std::unique_ptr<cudaDeviceProp>> devices GUARDED_BY(mutex);
};

cudaError_t read_properties(cudaDeviceProp* p, int device) {
  std::memset(p, 0, sizeof *p);
  CUDA_TRY(driver().cuDeviceGetName(p->name, sizeof p->name, device));
  CUDA_TRY(driver().cuDeviceGetUuid_v2(reinterpret_cast<CUuuid*>(&p->uuid), device));
  CUDA_TRY(driver().cuDeviceTotalMem_v2(&p->totalGlobalMem, device));
  for (const PropertyRow& row : kIntProperties) CUDA_TRY(attribute_of(&(p->*row.field), row.attribute, device));
  for (const SizePropertyRow& row : kSizeProperties) {
    int value;
    CUDA_TRY(attribute_of(&value, row.attribute, device));
    p->*row.field = static_cast<std::size_t>(value);
  }
  int value;
  CUDA_TRY(attribute_of(&value, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS, device));
  p->gpuDirectRDMAFlushWritesOptions = static_cast<unsigned>(value);
  CUDA_TRY(attribute_of(&value, CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, device));
  p->memoryPoolSupportedHandleTypes = static_cast<unsigned>(value);
  CUDA_TRY(fill_array(
      p->maxThreadsDim,
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z},
      device));
  CUDA_TRY(fill_array(
      p->maxGridSize,
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z},
      device));
  CUDA_TRY(fill_array(p->maxTexture2D,
                      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT},
                      device));
  CUDA_TRY(fill_array(
      p->maxTexture2DMipmap,
      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT},
      device));
  CUDA_TRY(fill_array(
      p->maxTexture2DLinear,
      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT,
       CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH},
      device));
  CUDA_TRY(fill_array(
      p->maxTexture2DGather,
      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT},
      device));
  CUDA_TRY(fill_array(p->maxTexture3D,
                      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT,
                       CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH},
                      device));
  CUDA_TRY(fill_array(
      p->maxTexture3DAlt,
      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE,
       CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE},
      device));
  CUDA_TRY(fill_array(
      p->maxTexture1DLayered,
      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS},
      device));
  CUDA_TRY(fill_array(
      p->maxTexture2DLayered,
      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
       CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS},
      device));
  CUDA_TRY(fill_array(p->maxTextureCubemapLayered,
                      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH,
                       CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS},
                      device));
  CUDA_TRY(fill_array(p->maxSurface2D,
                      {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT},
                      device));
  CUDA_TRY(fill_array(p->maxSurface3D,
                      {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT,
                       CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH},
                      device));
  CUDA_TRY(fill_array(
      p->maxSurface1DLayered,
      {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS},
      device));
  CUDA_TRY(fill_array(
      p->maxSurface2DLayered,
      {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT,
       CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS},
      device));
  return fill_array(p->maxSurfaceCubemapLayered,
                    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH,
                     CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS},
                    device);
}

}  // namespace

namespace impl {

cudaError_t cudaGetDeviceCount(int* count) {
  if (!count) return cudaErrorInvalidValue;
  *count = device_count();
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  if (!device) return cudaErrorInvalidValue;
  *device = current_device();
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) { return use_primary_context(device); }

cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) {
  CUDA_TRY(check_device(device));
  CUcontext before = nullptr;
  CUDA_TRY(driver().cuCtxGetCurrent(&before));
  CUDA_TRY(use_primary_context(device));
  return before ? detail::as_runtime(driver().cuCtxSetCurrent(before)) : cudaSuccess;
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  if (!devices && count > 0) return cudaErrorInvalidValue;
  for (int i = 0; i < count; ++i) CUDA_TRY(check_device(devices[i]));
  return count > 0 ? use_primary_context(devices[0]) : cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() { return detail::as_runtime(driver().cuCtxSynchronize()); }

cudaError_t cudaDeviceReset() {
  const int device = current_device();
  CUDA_TRY(driver().cuDevicePrimaryCtxReset_v2(device));
  forget_primary_context(device);
  CUDA_TRY(driver().cuCtxSetCurrent(nullptr));
  return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  const CUresult result =
      driver().cuDevicePrimaryCtxSetFlags_v2(current_device(), flags & ~static_cast<unsigned>(cudaDeviceMapHost));
  // An active context keeps its flags; newer drivers take them, older ones say so.
  return result == CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE ? cudaSuccess : detail::as_runtime(result);
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  if (!flags) return cudaErrorInvalidValue;
  int active;
  CUDA_TRY(driver().cuDevicePrimaryCtxGetState(current_device(), flags, &active));
  *flags |= cudaDeviceMapHost;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr attribute, int device) {
  if (!value) return cudaErrorInvalidValue;
  CUDA_TRY(check_device(device));
  return attribute_of(value, static_cast<CUdevice_attribute>(attribute), device);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp* properties, int device) {
  if (!properties) return cudaErrorInvalidValue;
  CUDA_TRY(check_device(device));
  // Properties never change, and some programs ask again and again: a hundred driver calls are made once per device.
  static PropertyCache& cache = *new PropertyCache;
  MutexLock lock(cache.mutex);
  cache.devices.resize(static_cast<std::size_t>(device_count()));
  auto& known = cache.devices[static_cast<std::size_t>(device)];
  if (!known) {
    auto read = std::make_unique<cudaDeviceProp>();
    CUDA_TRY(read_properties(read.get(), device));
    known = std::move(read);
  }
  *properties = *known;
  return cudaSuccess;
}

cudaError_t cudaChooseDevice(int* device, const struct cudaDeviceProp* wanted) {
  if (!device || !wanted) return cudaErrorInvalidValue;
  // The device that fulfils most of the wishes; wishes are the fields that are not zero.
  int best = 0, best_score = -1;
  for (int d = 0; d < device_count(); ++d) {
    cudaDeviceProp p;
    CUDA_TRY(impl::cudaGetDeviceProperties(&p, d));
    int score = 0;
    score += wanted->major && (p.major > wanted->major || (p.major == wanted->major && p.minor >= wanted->minor));
    score += wanted->totalGlobalMem && p.totalGlobalMem >= wanted->totalGlobalMem;
    score += wanted->multiProcessorCount && p.multiProcessorCount >= wanted->multiProcessorCount;
    score += wanted->sharedMemPerBlock && p.sharedMemPerBlock >= wanted->sharedMemPerBlock;
    if (score > best_score) {
      best_score = score;
      best = d;
    }
  }
  *device = best;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* bus_id, int length, int device) {
  CUDA_TRY(check_device(device));
  return detail::as_runtime(driver().cuDeviceGetPCIBusId(bus_id, length, device));
}
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* bus_id) {
  return detail::as_runtime(driver().cuDeviceGetByPCIBusId(device, bus_id));
}

cudaError_t cudaDeviceGetLimit(size_t* value, enum cudaLimit limit) {
  return detail::as_runtime(driver().cuCtxGetLimit(value, static_cast<CUlimit>(limit)));
}
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value) {
  return detail::as_runtime(driver().cuCtxSetLimit(static_cast<CUlimit>(limit), value));
}
cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache* configuration) {
  return detail::as_runtime(driver().cuCtxGetCacheConfig(reinterpret_cast<CUfunc_cache*>(configuration)));
}
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache configuration) {
  return detail::as_runtime(driver().cuCtxSetCacheConfig(static_cast<CUfunc_cache>(configuration)));
}
cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig* configuration) {
  return detail::as_runtime(driver().cuCtxGetSharedMemConfig(reinterpret_cast<CUsharedconfig*>(configuration)));
}
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig configuration) {
  return detail::as_runtime(driver().cuCtxSetSharedMemConfig(static_cast<CUsharedconfig>(configuration)));
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return detail::as_runtime(driver().cuCtxGetStreamPriorityRange(least, greatest));
}
cudaError_t cudaCtxResetPersistingL2Cache() { return detail::as_runtime(driver().cuCtxResetPersistingL2Cache()); }

// ---- peers
cudaError_t cudaDeviceCanAccessPeer(int* possible, int device, int peer) {
  if (!possible) return cudaErrorInvalidValue;
  CUDA_TRY(check_device(device));
  CUDA_TRY(check_device(peer));
  return detail::as_runtime(driver().cuDeviceCanAccessPeer(possible, device, peer));
}

static cudaError_t primary_context_of(int device, CUcontext* context) {
  CUDA_TRY(check_device(device));
  CUcontext before = nullptr;
  CUDA_TRY(driver().cuCtxGetCurrent(&before));
  const int own = current_device();
  CUDA_TRY(use_primary_context(device));
  CUDA_TRY(driver().cuCtxGetCurrent(context));
  CUDA_TRY(use_primary_context(own));
  return before ? detail::as_runtime(driver().cuCtxSetCurrent(before)) : cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  CUcontext context;
  CUDA_TRY(primary_context_of(peer, &context));
  return detail::as_runtime(driver().cuCtxEnablePeerAccess(context, flags));
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  CUcontext context;
  CUDA_TRY(primary_context_of(peer, &context));
  return detail::as_runtime(driver().cuCtxDisablePeerAccess(context));
}
cudaError_t cudaDeviceGetP2PAttribute(int* value, enum cudaDeviceP2PAttr attribute, int source_device,
                                      int destination_device) {
  CUDA_TRY(check_device(source_device));
  CUDA_TRY(check_device(destination_device));
  return detail::as_runtime(driver().cuDeviceGetP2PAttribute(value, static_cast<CUdevice_P2PAttribute>(attribute),
                                                             source_device, destination_device));
}

// ---- versions, entry points
cudaError_t cudaDriverGetVersion(int* version) {
  if (!version) return cudaErrorInvalidValue;
  // Succeeds without a driver, too: the version is then 0.
  if (load_driver() != cudaSuccess || driver().cuDriverGetVersion(version) != CUDA_SUCCESS) *version = 0;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  if (!version) return cudaErrorInvalidValue;
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** pointer, unsigned int version,
                                             unsigned long long flags, enum cudaDriverEntryPointQueryResult* result) {
  if (!symbol || !pointer) return cudaErrorInvalidValue;
  if (flags == cudaEnableDefault && api::default_stream_is_per_thread()) flags = cudaEnablePerThreadDefaultStream;
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
  CUDA_TRY(driver().cuGetProcAddress_v2(symbol, pointer, static_cast<int>(version), flags, &found));
  if (result) *result = static_cast<cudaDriverEntryPointQueryResult>(found);
  return cudaSuccess;
}
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** pointer, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult* result) {
  return impl::cudaGetDriverEntryPointByVersion(symbol, pointer, CUDART_VERSION, flags, result);
}

cudaError_t cudaGetExportTable(const void** table, const cudaUUID_t*) {
  if (table) *table = nullptr;
  return cudaErrorInvalidValue;  // there are no private tables here
}

// ---- profiler: controls of a profiler that is not attached have no effect
cudaError_t cudaProfilerStart() { return detail::as_runtime(driver().cuProfilerStart()); }
cudaError_t cudaProfilerStop() { return detail::as_runtime(driver().cuProfilerStop()); }

}  // namespace impl
}  // namespace heddle::runtime

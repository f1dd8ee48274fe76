/* The occupancy calculator that programs compile into themselves: how many blocks of a kernel fit on a multiprocessor,
 * from numbers alone, without asking a device. The model is the one of the programming guide: blocks, warps, registers
 * (given to warps in units of 256, per quarter of a multiprocessor) and shared memory each allow so many blocks, and
 * the least wins. tests/abi/occupancy.sh compares it with NVIDIA's over many inputs where the toolkit is installed. */
#ifndef __cuda_occupancy_h__
#define __cuda_occupancy_h__

#include <limits.h>
#include <stddef.h>
#include <string.h>

typedef enum cudaOccError_enum {
  CUDA_OCC_SUCCESS = 0,
  CUDA_OCC_ERROR_INVALID_INPUT = 1,
  CUDA_OCC_ERROR_UNKNOWN_DEVICE = 2
} cudaOccError;

typedef enum cudaOccPartitionedGCConfig_enum {
  PARTITIONED_GC_OFF,
  PARTITIONED_GC_ON,
  PARTITIONED_GC_ON_STRICT
} cudaOccPartitionedGCConfig;

typedef enum cudaOccFuncShmemConfig_enum { FUNC_SHMEM_LIMIT_DEFAULT, FUNC_SHMEM_LIMIT_OPTIN } cudaOccFuncShmemConfig;

typedef enum cudaOccCacheConfig_enum {
  CACHE_PREFER_NONE = 0,
  CACHE_PREFER_SHARED = 1,
  CACHE_PREFER_L1 = 2,
  CACHE_PREFER_EQUAL = 3
} cudaOccCacheConfig;

typedef enum cudaOccCarveoutConfig_enum {
  SHAREDMEM_CARVEOUT_DEFAULT = -1,
  SHAREDMEM_CARVEOUT_MAX_SHARED = 100,
  SHAREDMEM_CARVEOUT_MAX_L1 = 0,
  SHAREDMEM_CARVEOUT_HALF = 50
} cudaOccCarveoutConfig;

typedef enum cudaOccLimitingFactor_enum {
  OCC_LIMIT_WARPS = 1,
  OCC_LIMIT_REGISTERS = 2,
  OCC_LIMIT_SHARED_MEMORY = 4,
  OCC_LIMIT_BLOCKS = 8,
  OCC_LIMIT_BARRIERS = 16,
  OCC_LIMIT_VIRTUAL_RESOURCES = 32
} cudaOccLimitingFactor;

typedef struct cudaOccDeviceProp cudaOccDeviceProp;
typedef struct cudaOccFuncAttributes cudaOccFuncAttributes;
typedef struct cudaOccDeviceState cudaOccDeviceState;
typedef struct cudaOccResult cudaOccResult;

/* What matters of a device. In C++ it is made from a cudaDeviceProp. */
struct cudaOccDeviceProp {
  int computeMajor;
  int computeMinor;
  int maxThreadsPerBlock;
  int maxThreadsPerMultiprocessor;
  int regsPerBlock;
  int regsPerMultiprocessor;
  int warpSize;
  size_t sharedMemPerBlock;
  size_t sharedMemPerMultiprocessor;
  int numSms;
  size_t sharedMemPerBlockOptin;
  size_t reservedSharedMemPerBlock;
#ifdef __cplusplus
  template <class Properties>
  cudaOccDeviceProp(const Properties& from)
      : computeMajor(from.major),
        computeMinor(from.minor),
        maxThreadsPerBlock(from.maxThreadsPerBlock),
        maxThreadsPerMultiprocessor(from.maxThreadsPerMultiProcessor),
        regsPerBlock(from.regsPerBlock),
        regsPerMultiprocessor(from.regsPerMultiprocessor),
        warpSize(from.warpSize),
        sharedMemPerBlock(from.sharedMemPerBlock),
        sharedMemPerMultiprocessor(from.sharedMemPerMultiprocessor),
        numSms(from.multiProcessorCount),
        sharedMemPerBlockOptin(from.sharedMemPerBlockOptin),
        reservedSharedMemPerBlock(from.reservedSharedMemPerBlock) {}
  cudaOccDeviceProp() { memset(static_cast<void*>(this), 0, sizeof *this); }
#endif
};

/* What matters of a kernel. In C++ it is made from a cudaFuncAttributes. */
struct cudaOccFuncAttributes {
  int maxThreadsPerBlock;
  int numRegs;
  size_t sharedSizeBytes;
  cudaOccPartitionedGCConfig partitionedGCConfig;
  cudaOccFuncShmemConfig shmemLimitConfig;
  size_t maxDynamicSharedSizeBytes;
  int numBlockBarriers;
  int virtualResourceCount;
#ifdef __cplusplus
  template <class Attributes>
  cudaOccFuncAttributes(const Attributes& from)
      : maxThreadsPerBlock(from.maxThreadsPerBlock),
        numRegs(from.numRegs),
        sharedSizeBytes(from.sharedSizeBytes),
        partitionedGCConfig(PARTITIONED_GC_OFF),
        shmemLimitConfig(FUNC_SHMEM_LIMIT_OPTIN),
        maxDynamicSharedSizeBytes(from.maxDynamicSharedSizeBytes),
        numBlockBarriers(1),
        virtualResourceCount(0) {}
  cudaOccFuncAttributes() { memset(static_cast<void*>(this), 0, sizeof *this); }
#endif
};

struct cudaOccDeviceState {
  cudaOccCacheConfig cacheConfig;
  int carveoutConfig;
#ifdef __cplusplus
  cudaOccDeviceState() : cacheConfig(CACHE_PREFER_NONE), carveoutConfig(SHAREDMEM_CARVEOUT_DEFAULT) {}
#endif
};

struct cudaOccResult {
  int activeBlocksPerMultiprocessor;
  unsigned int limitingFactors;
  int blockLimitRegs;
  int blockLimitSharedMem;
  int blockLimitWarps;
  int blockLimitBlocks;
  int blockLimitBarriers;
  int blockLimitVirtual;
  int allocatedRegistersPerBlock;
  size_t allocatedSharedMemPerBlock;
  cudaOccPartitionedGCConfig partitionedGCConfig;
};

/* ---- Numbers of architectures (programming guide, "technical specifications per compute capability") ---- */

static inline int heddle_occupancy_max_blocks(const cudaOccDeviceProp* device) {
  switch (10 * device->computeMajor + device->computeMinor) {
    case 75:
    case 86:
    case 87: return 16;
    case 89:
    case 120:
    case 121: return 24;
    default: return 32;
  }
}
static inline size_t heddle_occupancy_round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

/* Shared memory that a block takes: static, dynamic, and what the system keeps, in the unit of allocation. */
static inline size_t heddle_occupancy_shared_bytes(const cudaOccDeviceProp* device, const cudaOccFuncAttributes* kernel,
                                                   size_t dynamic_bytes) {
  const size_t unit = device->computeMajor >= 8 ? 128 : 256;
  return heddle_occupancy_round_up(kernel->sharedSizeBytes + dynamic_bytes + device->reservedSharedMemPerBlock, unit);
}

/* How many blocks of `block_size` threads with `dynamic_bytes` of dynamic shared memory fit on a multiprocessor at
 * once, and what keeps a further one out. The whole of shared memory counts as usable: carve-outs are hints. */
static inline cudaOccError cudaOccMaxActiveBlocksPerMultiprocessor(cudaOccResult* result,
                                                                   const cudaOccDeviceProp* device,
                                                                   const cudaOccFuncAttributes* kernel,
                                                                   const cudaOccDeviceState* state, int block_size,
                                                                   size_t dynamic_bytes) {
  const int kQuarters = 4;
  size_t warps, warp_registers, shared_bytes, shared_limit;
  int least;
  if (result == 0 || device == 0 || kernel == 0 || state == 0 || block_size <= 0 || device->warpSize <= 0)
    return CUDA_OCC_ERROR_INVALID_INPUT;
  if (device->computeMajor < 7) return CUDA_OCC_ERROR_UNKNOWN_DEVICE;
  memset((void*)result, 0, sizeof *result);
  warps = ((size_t)block_size + (size_t)device->warpSize - 1) / (size_t)device->warpSize;

  result->blockLimitBlocks = heddle_occupancy_max_blocks(device);

  if (block_size > device->maxThreadsPerBlock || block_size > kernel->maxThreadsPerBlock)
    result->blockLimitWarps = 0;
  else
    result->blockLimitWarps = (int)((size_t)(device->maxThreadsPerMultiprocessor / device->warpSize) / warps);

  warp_registers = heddle_occupancy_round_up((size_t)kernel->numRegs * (size_t)device->warpSize, 256);
  if (kernel->numRegs == 0) {
    result->blockLimitRegs = INT_MAX;
  } else if (kernel->numRegs > 255) {
    result->blockLimitRegs = 0;
  } else {
    const size_t block_warps = heddle_occupancy_round_up(warps, (size_t)kQuarters);
    const size_t quarter_warps = (size_t)(device->regsPerMultiprocessor / kQuarters) / warp_registers;
    result->allocatedRegistersPerBlock = (int)(warp_registers * block_warps);
    if (result->allocatedRegistersPerBlock > device->regsPerBlock)
      result->blockLimitRegs = 0;
    else
      result->blockLimitRegs = (int)(quarter_warps * (size_t)kQuarters / warps);
  }

  shared_bytes = heddle_occupancy_shared_bytes(device, kernel, dynamic_bytes);
  shared_limit = device->sharedMemPerBlock;
  if (kernel->shmemLimitConfig == FUNC_SHMEM_LIMIT_OPTIN)
    shared_limit = kernel->maxDynamicSharedSizeBytes > device->sharedMemPerBlock - kernel->sharedSizeBytes
                       ? device->sharedMemPerBlockOptin
                       : device->sharedMemPerBlock;
  result->allocatedSharedMemPerBlock = shared_bytes;
  if (shared_bytes > shared_limit + device->reservedSharedMemPerBlock)
    result->blockLimitSharedMem = 0;
  else if (shared_bytes == 0)
    result->blockLimitSharedMem = INT_MAX;
  else
    result->blockLimitSharedMem = (int)(device->sharedMemPerMultiprocessor / shared_bytes);

  /* Sixteen barriers for each block that fits; nothing on a CPU or in the public model counts virtual resources. */
  result->blockLimitBarriers =
      kernel->numBlockBarriers > 0 ? 16 * result->blockLimitBlocks / kernel->numBlockBarriers : INT_MAX;
  result->blockLimitVirtual = INT_MAX;

  least = result->blockLimitBlocks;
  if (result->blockLimitWarps < least) least = result->blockLimitWarps;
  if (result->blockLimitRegs < least) least = result->blockLimitRegs;
  if (result->blockLimitSharedMem < least) least = result->blockLimitSharedMem;
  if (result->blockLimitBarriers < least) least = result->blockLimitBarriers;
  result->activeBlocksPerMultiprocessor = least;
  if (result->blockLimitWarps == least) result->limitingFactors |= OCC_LIMIT_WARPS;
  if (result->blockLimitRegs == least) result->limitingFactors |= OCC_LIMIT_REGISTERS;
  if (result->blockLimitSharedMem == least) result->limitingFactors |= OCC_LIMIT_SHARED_MEMORY;
  if (result->blockLimitBlocks == least) result->limitingFactors |= OCC_LIMIT_BLOCKS;
  if (result->blockLimitBarriers == least) result->limitingFactors |= OCC_LIMIT_BARRIERS;
  result->partitionedGCConfig = PARTITIONED_GC_OFF;
  return CUDA_OCC_SUCCESS;
}

/* The most dynamic shared memory per block with which `blocks` blocks of `block_size` threads still fit. */
static inline cudaOccError cudaOccAvailableDynamicSMemPerBlock(size_t* bytes, const cudaOccDeviceProp* device,
                                                               const cudaOccFuncAttributes* kernel,
                                                               const cudaOccDeviceState* state, int blocks,
                                                               int block_size) {
  const size_t unit = device != 0 && device->computeMajor >= 8 ? 128 : 256;
  cudaOccResult result;
  cudaOccError error;
  size_t share, taken, limit;
  if (bytes == 0 || blocks <= 0) return CUDA_OCC_ERROR_INVALID_INPUT;
  error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, device, kernel, state, block_size, 0);
  if (error != CUDA_OCC_SUCCESS) return error;
  *bytes = 0;
  if (result.activeBlocksPerMultiprocessor < blocks) return CUDA_OCC_SUCCESS;
  share = device->sharedMemPerMultiprocessor / (size_t)blocks / unit * unit;
  limit =
      kernel->shmemLimitConfig == FUNC_SHMEM_LIMIT_OPTIN ? device->sharedMemPerBlockOptin : device->sharedMemPerBlock;
  taken = kernel->sharedSizeBytes + device->reservedSharedMemPerBlock;
  if (share > limit + device->reservedSharedMemPerBlock) share = limit + device->reservedSharedMemPerBlock;
  *bytes = share > taken ? share - taken : 0;
  return CUDA_OCC_SUCCESS;
}

/* The block size with most active threads, largest first, and the grid that fills the device with it. The dynamic
 * shared memory is `dynamic_bytes`, or what `dynamic_bytes_of_block` says where that is not null. */
static inline cudaOccError cudaOccMaxPotentialOccupancyBlockSize(
    int* grid_size, int* block_size, const cudaOccDeviceProp* device, const cudaOccFuncAttributes* kernel,
    const cudaOccDeviceState* state, size_t (*dynamic_bytes_of_block)(int), size_t dynamic_bytes) {
  int limit, rounded, best = 0;
  if (grid_size == 0 || block_size == 0 || device == 0 || kernel == 0 || state == 0 || device->warpSize <= 0)
    return CUDA_OCC_ERROR_INVALID_INPUT;
  limit =
      device->maxThreadsPerBlock < kernel->maxThreadsPerBlock ? device->maxThreadsPerBlock : kernel->maxThreadsPerBlock;
  *grid_size = 0;
  *block_size = 0;
  for (rounded = (limit + device->warpSize - 1) / device->warpSize * device->warpSize; rounded > 0;
       rounded -= device->warpSize) {
    const int size = rounded < limit ? rounded : limit;
    cudaOccResult result;
    const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
        &result, device, kernel, state, size, dynamic_bytes_of_block ? dynamic_bytes_of_block(size) : dynamic_bytes);
    if (error != CUDA_OCC_SUCCESS) return error;
    if (size * result.activeBlocksPerMultiprocessor > best) {
      best = size * result.activeBlocksPerMultiprocessor;
      *block_size = size;
      *grid_size = result.activeBlocksPerMultiprocessor * device->numSms;
    }
    if (best == device->maxThreadsPerMultiprocessor) break;
  }
  return CUDA_OCC_SUCCESS;
}

#ifdef __cplusplus
static inline cudaOccError cudaOccMaxPotentialOccupancyBlockSize(int* grid_size, int* block_size,
                                                                 const cudaOccDeviceProp* device,
                                                                 const cudaOccFuncAttributes* kernel,
                                                                 const cudaOccDeviceState* state,
                                                                 size_t dynamic_bytes = 0) {
  return cudaOccMaxPotentialOccupancyBlockSize(grid_size, block_size, device, kernel, state, 0, dynamic_bytes);
}

/* The same with any function object. */
template <class DynamicBytes>
inline cudaOccError cudaOccMaxPotentialOccupancyBlockSizeVariableSMem(int* grid_size, int* block_size,
                                                                      const cudaOccDeviceProp* device,
                                                                      const cudaOccFuncAttributes* kernel,
                                                                      const cudaOccDeviceState* state,
                                                                      DynamicBytes dynamic_bytes_of_block) {
  if (device == 0 || kernel == 0 || device->warpSize <= 0) return CUDA_OCC_ERROR_INVALID_INPUT;
  const int limit =
      device->maxThreadsPerBlock < kernel->maxThreadsPerBlock ? device->maxThreadsPerBlock : kernel->maxThreadsPerBlock;
  int best = 0;
  *grid_size = 0;
  *block_size = 0;
  for (int rounded = (limit + device->warpSize - 1) / device->warpSize * device->warpSize; rounded > 0;
       rounded -= device->warpSize) {
    const int size = rounded < limit ? rounded : limit;
    cudaOccResult result;
    const cudaOccError error =
        cudaOccMaxActiveBlocksPerMultiprocessor(&result, device, kernel, state, size, dynamic_bytes_of_block(size));
    if (error != CUDA_OCC_SUCCESS) return error;
    if (size * result.activeBlocksPerMultiprocessor > best) {
      best = size * result.activeBlocksPerMultiprocessor;
      *block_size = size;
      *grid_size = result.activeBlocksPerMultiprocessor * device->numSms;
    }
    if (best == device->maxThreadsPerMultiprocessor) break;
  }
  return CUDA_OCC_SUCCESS;
}
#endif

#endif /* __cuda_occupancy_h__ */

/* Launches from the device (dynamic parallelism). clang compiles none, so there is little here: the streams that such
 * launches name, and declarations that libraries mention in code which nobody calls. */
#ifndef __CUDA_DEVICE_RUNTIME_API_H__
#define __CUDA_DEVICE_RUNTIME_API_H__

#include "driver_types.h"
#include "host_defines.h"

/* Streams of launches from the device */
#define cudaStreamTailLaunch ((cudaStream_t)0x3)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)
#define cudaStreamGraphTailLaunch ((cudaStream_t)0x0100000000000000)
#define cudaStreamGraphFireAndForget ((cudaStream_t)0x0200000000000000)
#define cudaStreamGraphFireAndForgetAsSibling ((cudaStream_t)0x0300000000000000)

#if defined(__CUDACC__) && defined(__cplusplus)
extern "C" {
__device__ void* cudaGetParameterBuffer(size_t alignment, size_t size);
__device__ cudaError_t cudaLaunchDevice(void* function, void* parameters, dim3 grid, dim3 block,
                                        unsigned int shared_bytes, cudaStream_t stream);
__device__ cudaError_t __cudaDeviceSynchronizeDeprecationAvoidance(void);
}
#endif

#endif /* __CUDA_DEVICE_RUNTIME_API_H__ */

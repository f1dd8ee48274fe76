/* cudaProfilerStart and cudaProfilerStop: cuda_runtime_api.h declares them. */
#ifndef __CUDA_PROFILER_API_H__
#define __CUDA_PROFILER_API_H__

#include "cuda_runtime_api.h"

#endif /* __CUDA_PROFILER_API_H__ */

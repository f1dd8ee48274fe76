/* The C API of the CUDA 13.0 runtime, written anew: one prototype per public row of heddle/runtime.def. Usable from C
 * and C++ with any compiler. Tested by tests/abi, which compares every function type with NVIDIA's header where that is
 * installed. */
#ifndef __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_API_H__

#define CUDART_VERSION 13000

#include "builtin_types.h"
#include "host_defines.h"

#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) && !defined(__CUDART_API_PER_THREAD_DEFAULT_STREAM)
#define __CUDART_API_PER_THREAD_DEFAULT_STREAM
#endif
#define __CUDART_API_VERSION CUDART_VERSION
#ifndef CUDART_DEVICE
#define CUDART_DEVICE
#endif

/* Called by the stream when the work before it is done. The older form, for cudaStreamAddCallback. */
typedef void(CUDART_CB* cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void* user_data);
/* Called for a line of the driver's log. */
typedef void(CUDART_CB* cudaLogsCallback_t)(void* data, cudaLogLevel level, char* message, size_t length);

#ifdef __cplusplus
extern "C" {
#endif

/* The functions, and their twins with a per-thread default stream. */
#define HEDDLE_RUNTIME_PROTOTYPE_None(function, parameters) extern cudaError_t CUDARTAPI function parameters;
#define HEDDLE_RUNTIME_PROTOTYPE_Ptds(function, parameters) \
  extern cudaError_t CUDARTAPI function parameters;         \
  extern cudaError_t CUDARTAPI function##_ptds parameters;
#define HEDDLE_RUNTIME_PROTOTYPE_Ptsz(function, parameters) \
  extern cudaError_t CUDARTAPI function parameters;         \
  extern cudaError_t CUDARTAPI function##_ptsz parameters;
#ifdef __cplusplus
#define HEDDLE_DEFAULT(value) = value
#else
#define HEDDLE_DEFAULT(value)
#endif
#define HEDDLE_RUNTIME(name, needs, stream, coverage, parameters, names) \
  HEDDLE_RUNTIME_PROTOTYPE_##stream(name, parameters)
#define HEDDLE_RUNTIME_PLAIN(result, name, coverage, parameters, names) extern result CUDARTAPI name parameters;
#define HEDDLE_RUNTIME_COMPILER(name, needs, stream, coverage, parameters, names)
#define HEDDLE_RUNTIME_COMPILER_PLAIN(result, name, coverage, parameters, names)
#define HEDDLE_RUNTIME_NAME(name, stream, coverage)
#include "heddle/runtime.def"
#undef HEDDLE_RUNTIME_PROTOTYPE_None
#undef HEDDLE_RUNTIME_PROTOTYPE_Ptds
#undef HEDDLE_RUNTIME_PROTOTYPE_Ptsz

#ifdef __cplusplus
}
#endif

#ifdef __CUDART_API_PER_THREAD_DEFAULT_STREAM
#include "heddle/runtime_per_thread.h"
#endif

#endif /* __CUDA_RUNTIME_API_H__ */

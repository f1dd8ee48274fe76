/* The C++ face of the CUDA runtime: the C API of cuda_runtime_api.h and the overloads and templates that spare casts.
 * A compiler of CUDA C++ includes it before each source. Tested by tests/abi and by everything in examples/. */
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#include "builtin_types.h"
#include "channel_descriptor.h"
#include "crt/host_config.h"
#include "cuda_runtime_api.h"
#include "driver_functions.h"
#include "host_defines.h"
#include "library_types.h"
#include "vector_functions.h"

#ifdef __cplusplus

#include "heddle/runtime_templates.h"

#endif /* __cplusplus */

#endif /* __CUDA_RUNTIME_H__ */

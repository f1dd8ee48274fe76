// The words that CUDA C++ adds to the language, as attributes of clang, and as nothing for a plain host compiler.
// Included by every other header here; tested by everything that compiles in examples/ and tests/programs/.
#ifndef __HOST_DEFINES_H__
#define __HOST_DEFINES_H__

#if defined(__CUDA__) && defined(__clang__)
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
// clang has no managed variables for CUDA: host and device would each have their own copy. An error at the first use
// says so; memory from cudaMallocManaged works.
#define __managed__                       \
  __attribute__((device)) __attribute__(( \
      unavailable("managed variables are not supported yet; use cudaMallocManaged, or a __device__ variable")))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __block_size__(...)
// __grid_constant__ lets a kernel take a parameter's address without a copy; clang knows it as an attribute.
#define __grid_constant__ __attribute__((grid_constant))
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __block_size__(...)
#define __grid_constant__
#endif

#define __tile__
#define __tile_global__

#define __no_return__ __attribute__((noreturn))
#define __align__(n) __attribute__((aligned(n)))
#define __thread__ __thread
#define __import__
#define __export__
#define __cdecl
#define __annotate__(...) __attribute__((__VA_ARGS__))
#define __location__(...)
#define CUDARTAPI
#define CUDARTAPI_CDECL
#define CUDART_CB

// clang treats __noinline__ as a keyword in CUDA mode; as a macro it would break attribute lists of libstdc++.
#if !(defined(__CUDA__) && defined(__clang__)) && !defined(__noinline__) && defined(__CUDACC__)
#define __noinline__ __attribute__((noinline))
#endif
#ifndef __forceinline__
#define __forceinline__ __inline__ __attribute__((always_inline))
#endif

// Markers of NVIDIA's compiler that carry no meaning for others; headers in the wild write them.
#define __specialization_static static
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __builtin_align__(n) __align__(n)

#endif

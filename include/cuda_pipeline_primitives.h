// Asynchronous copies from global to shared memory in the C style: __pipeline_memcpy_async, commit, wait.
// From compute capability 8.0 on they are PTX cp.async; below, plain copies, which the interface allows.
// Tested by tests/programs/pipeline.cu.
#ifndef _CUDA_PIPELINE_PRIMITIVES_H_
#define _CUDA_PIPELINE_PRIMITIVES_H_
#if defined(__cplusplus) && defined(__CUDACC__)
#include <cuda_runtime.h>
#include <stddef.h>

#define HEDDLE_PIPELINE_FN static __device__ __forceinline__

/// `bytes` is 4, 8 or 16; the last `zero_fill` bytes of the destination become zero instead of being copied.
HEDDLE_PIPELINE_FN void __pipeline_memcpy_async(void* shared, const void* global, size_t bytes, size_t zero_fill = 0) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned destination = (unsigned)__cvta_generic_to_shared(shared), size = (unsigned)(bytes - zero_fill);
  if (bytes == 4)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                 :
                 : "r"(destination), "l"(global), "r"(size)
                 : "memory");
  else if (bytes == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;"
                 :
                 : "r"(destination), "l"(global), "r"(size)
                 : "memory");
  else
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(destination), "l"(global), "r"(size)
                 : "memory");
#else
  for (size_t i = 0; i < bytes; i++)
    ((unsigned char*)shared)[i] = i < bytes - zero_fill ? ((const unsigned char*)global)[i] : 0;
#endif
}
HEDDLE_PIPELINE_FN void __pipeline_commit() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}
/// Waits until at most `newest` of the committed groups are under way. PTX wants the number at compile time.
HEDDLE_PIPELINE_FN void __pipeline_wait_prior(size_t newest) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  switch (newest) {
    case 0: asm volatile("cp.async.wait_all;" : : : "memory"); break;
    case 1: asm volatile("cp.async.wait_group 1;" : : : "memory"); break;
    case 2: asm volatile("cp.async.wait_group 2;" : : : "memory"); break;
    case 3: asm volatile("cp.async.wait_group 3;" : : : "memory"); break;
    case 4: asm volatile("cp.async.wait_group 4;" : : : "memory"); break;
    case 5: asm volatile("cp.async.wait_group 5;" : : : "memory"); break;
    case 6: asm volatile("cp.async.wait_group 6;" : : : "memory"); break;
    case 7: asm volatile("cp.async.wait_group 7;" : : : "memory"); break;
    default: asm volatile("cp.async.wait_group 8;" : : : "memory"); break;
  }
#else
  (void)newest;
#endif
}
#undef HEDDLE_PIPELINE_FN
#endif
#endif

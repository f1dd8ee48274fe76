// What the headers need to know of the host: the C library's basics, before any macro games.
// NVIDIA's file of this name also refuses unknown host compilers; these headers work with any C++11 compiler.
#ifndef __HOST_CONFIG_H__
#define __HOST_CONFIG_H__
#include <features.h>
#include <limits.h>
#include <stddef.h>
#ifndef _CRTIMP
#define _CRTIMP
#endif
#ifndef __CUDACC_VER_MAJOR__
#define __HEDDLE_CUDA_MAJOR__ 13
#else
#define __HEDDLE_CUDA_MAJOR__ __CUDACC_VER_MAJOR__
#endif
#endif

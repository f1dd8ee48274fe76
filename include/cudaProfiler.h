/* The driver's profiler control: cuda.h declares all of it. */
#ifndef cuda_profiler_H
#define cuda_profiler_H

#include "cuda.h"

#endif /* cuda_profiler_H */

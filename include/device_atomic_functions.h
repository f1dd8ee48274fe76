// Atomic functions, under the name that clang's CUDA wrapper asks for. See heddle/atomics.h.
#ifndef __DEVICE_ATOMIC_FUNCTIONS_H__
#define __DEVICE_ATOMIC_FUNCTIONS_H__
#if defined(__CUDA__) && defined(__clang__)
#include "heddle/atomics.h"
#endif
#endif

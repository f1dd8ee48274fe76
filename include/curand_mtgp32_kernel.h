// The last file that clang's CUDA wrapper includes: what has to come after all of its own definitions.
// (The MTGP32 generator itself, whose name NVIDIA's file has, is not there yet.)
#pragma once
#if defined(__CUDA__) && defined(__clang__)
#include "heddle/clang_epilogue.h"
#endif

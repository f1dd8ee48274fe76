// Asked for by clang's CUDA wrapper, which defines texture fetches by object itself; nothing of them is left for here.
// It is the first file after the runtime's declarations that sees __CUDACC__, which the device runtime's need.
#pragma once
#include "cuda_device_runtime_api.h"

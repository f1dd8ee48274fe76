// The former home of the definitions of cuda_bf16.h.
#pragma once
#include "cuda_bf16.h"

// Asynchronous copies; the C++ pipeline object is in <cuda/pipeline>.
#pragma once
#include "cuda_pipeline_primitives.h"

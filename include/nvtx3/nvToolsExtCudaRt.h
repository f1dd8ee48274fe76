// NVTX names for CUDA objects: nothing listens to them here.
#pragma once
#include "nvToolsExt.h"

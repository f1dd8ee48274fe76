// Programs include this by name; clang's CUDA wrapper has already brought its contents.
#pragma once
#include "cuda_runtime.h"

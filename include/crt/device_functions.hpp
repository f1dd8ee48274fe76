// Asked for by clang's CUDA wrapper (__clang_cuda_runtime_wrapper.h), which defines its contents itself or finds
// them in our other headers: see include/heddle/README.md.
#pragma once

// Every exported function of libcudart: one per row of include/heddle/runtime.def, expanded by api/runtime_exports.h.
#include "api/runtime_exports.h"

// Every exported function of libcudart: one per row of include/heddle/runtime.def, expanded by api/runtime_exports.h.
// Tested by tests/api/runtime.
#include "api/runtime_exports.h"

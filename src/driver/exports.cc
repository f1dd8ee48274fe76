// Every exported function of libcuda.so.1: one per row of include/heddle/driver.def, expanded by api/driver_exports.h.
#include "api/driver_exports.h"

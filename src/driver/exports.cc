// The exported functions of libcuda.so.1, from the table. Tested by tests/abi.
#include "api/driver_exports.h"

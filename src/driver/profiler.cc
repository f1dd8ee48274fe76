// Profiler control: there is no profiler to control, and NVIDIA's driver without one does nothing either.
// Tested by tests/api/driver/init_test.cc.
#include "driver/state.h"

namespace heddle::driver::impl {

CUresult cuProfilerStart(void) { return CUDA_SUCCESS; }
CUresult cuProfilerStop(void) { return CUDA_SUCCESS; }

}  // namespace heddle::driver::impl

// cuInit and the driver's version. Tested by tests/api/driver/init_test.cc.
#include "driver/state.h"

namespace heddle::driver::impl {

CUresult cuInit(unsigned int flags) {
  DRIVER_CHECK(flags == 0, "flags must be 0");
  return result_of(initialize());
}

CUresult cuDriverGetVersion(int* version) {
  DRIVER_CHECK(version, "no place for the version");
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

}  // namespace heddle::driver::impl

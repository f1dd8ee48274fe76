// Names and texts of errors. Tested by tests/api/driver/init_test.cc.
#include "api/describe.h"
#include "driver/state.h"

namespace heddle::driver::impl {

CUresult cuGetErrorName(CUresult error, const char** text) {
  DRIVER_CHECK(text, "no place for the name");
  *text = api::driver_error_name(error);
  DRIVER_CHECK(*text, "unknown error");
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char** text) {
  DRIVER_CHECK(text, "no place for the text");
  *text = api::driver_error_text(error);
  DRIVER_CHECK(*text, "unknown error");
  return CUDA_SUCCESS;
}

}  // namespace heddle::driver::impl

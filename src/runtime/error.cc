// The thread's error state, and the names and texts of errors. Tested by tests/api/runtime.
#include "api/describe.h"
#include "runtime/state.h"

namespace heddle::runtime::impl {

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error();
  last_error() = cudaSuccess;
  return error;
}
cudaError_t cudaPeekAtLastError() { return last_error(); }
const char* cudaGetErrorName(cudaError_t error) { return api::runtime_error_name(error); }
const char* cudaGetErrorString(cudaError_t error) { return api::runtime_error_text(error); }

}  // namespace heddle::runtime::impl

// Launches: the configuration stack of <<<...>>>, both launch protocols, and cudaLaunchKernelEx.
// Tested by tests/api/runtime.
#include <cstring>

#include "runtime/registration.h"
#include "runtime/state.h"

namespace heddle::runtime {
namespace {

struct Configuration {
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
};
/// <<<...>>> nests when an argument's constructor launches something itself.
std::vector<Configuration>& configurations() {
  thread_local std::vector<Configuration> stack;
  return stack;
}

constexpr unsigned kMaxThreads = 1024;

/// The runtime's own error for what the driver calls an invalid value.
bool valid_dimensions(const dim3& grid, const dim3& block) {
  const auto nonzero = [](const dim3& d) { return d.x && d.y && d.z; };
  return nonzero(grid) && nonzero(block) && grid.x <= 0x7fffffffu && grid.y <= 65535 && grid.z <= 65535 &&
         block.x <= kMaxThreads && block.y <= kMaxThreads && block.z <= 64 &&
         std::uint64_t{block.x} * block.y * block.z <= kMaxThreads;
}

cudaError_t launch_error(CUresult result, const dim3& grid, const dim3& block) {
  if (result == CUDA_SUCCESS) [[likely]]
    return cudaSuccess;
  if (result == CUDA_ERROR_INVALID_VALUE && !valid_dimensions(grid, block)) return cudaErrorInvalidConfiguration;
  return to_runtime(result);
}

cudaError_t launch(CUkernel kernel, const dim3& grid, const dim3& block, void** arguments, std::size_t shared_bytes,
                   cudaStream_t stream) {
  CUDA_TRY(prepare_managed_variables());
  return launch_error(
      driver().cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), grid.x, grid.y, grid.z, block.x, block.y, block.z,
                              static_cast<unsigned>(shared_bytes), stream_of(stream), arguments, nullptr),
      grid, block);
}

}  // namespace

namespace impl {

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, struct CUstream_st* stream) {
  configurations().push_back({grid, block, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void* stream) {
  auto& stack = configurations();
  if (stack.empty()) return cudaErrorMissingConfiguration;
  const Configuration& top = stack.back();
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  std::memcpy(stream, &top.stream, sizeof top.stream);
  stack.pop_back();
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                               cudaStream_t stream) {
  if (!kernel) return why_no_kernel();
  return launch(reinterpret_cast<CUkernel>(kernel), grid, block, arguments, shared_bytes, stream);
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                             cudaStream_t stream) {
  CUkernel kernel;
  CUDA_TRY(find_kernel(function, &kernel));
  return launch(kernel, grid, block, arguments, shared_bytes, stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes, cudaStream_t stream) {
  CUkernel kernel;
  CUDA_TRY(find_kernel(function, &kernel));
  CUDA_TRY(prepare_managed_variables());
  return launch_error(
      driver().cuLaunchCooperativeKernel(reinterpret_cast<CUfunction>(kernel), grid.x, grid.y, grid.z, block.x, block.y,
                                         block.z, static_cast<unsigned>(shared_bytes), stream_of(stream), arguments),
      grid, block);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* configuration, const void* function, void** arguments) {
  if (!configuration) return cudaErrorInvalidValue;
  CUkernel kernel;
  CUDA_TRY(find_kernel(function, &kernel));
  CUDA_TRY(prepare_managed_variables());
  static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute),
                "the attributes are passed through as they are");
  CUlaunchConfig config = {};
  config.gridDimX = configuration->gridDim.x;
  config.gridDimY = configuration->gridDim.y;
  config.gridDimZ = configuration->gridDim.z;
  config.blockDimX = configuration->blockDim.x;
  config.blockDimY = configuration->blockDim.y;
  config.blockDimZ = configuration->blockDim.z;
  config.sharedMemBytes = static_cast<unsigned>(configuration->dynamicSmemBytes);
  config.hStream = stream_of(configuration->stream);
  config.attrs = reinterpret_cast<CUlaunchAttribute*>(configuration->attrs);
  config.numAttrs = configuration->numAttrs;
  return launch_error(driver().cuLaunchKernelEx(&config, reinterpret_cast<CUfunction>(kernel), arguments, nullptr),
                      configuration->gridDim, configuration->blockDim);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* arguments) {
  return detail::as_runtime(driver().cuLaunchHostFunc(stream_of(stream), function, arguments));
}

}  // namespace impl
}  // namespace heddle::runtime

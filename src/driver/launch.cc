// Launches. What a launch may be is checked here, with NVIDIA's codes. Tested by tests/api/driver/launch_test.cc.
#include "driver/launch.h"

#include <cstring>

#include "base/options.h"
#include "driver/function.h"
#include "driver/memory.h"
#include "driver/module.h"
#include "driver/stream.h"

namespace heddle::driver {
namespace {

constexpr std::uint32_t kMaxGridX = 2147483647, kMaxGridYZ = 65535, kMaxBlockXY = 1024, kMaxBlockZ = 64;
constexpr std::uint32_t kMaxThreads = 1024;

Status check_shape(const Function& function, const LaunchShape& shape) {
  for (int i = 0; i < 3; ++i)
    if (shape.grid[i] == 0 || shape.block[i] == 0)
      return Status(ErrorCode::kInvalidValue, "a dimension of grid or block is 0");
  if (shape.grid[0] > kMaxGridX || shape.grid[1] > kMaxGridYZ || shape.grid[2] > kMaxGridYZ)
    return Status(ErrorCode::kInvalidValue, "the grid is larger than 2147483647 x 65535 x 65535");
  const std::uint64_t threads = std::uint64_t{shape.block[0]} * shape.block[1] * shape.block[2];
  if (shape.block[0] > kMaxBlockXY || shape.block[1] > kMaxBlockXY || shape.block[2] > kMaxBlockZ ||
      threads > kMaxThreads)
    return Status(ErrorCode::kInvalidValue, "a block has more than 1024 x 1024 x 64 or 1024 threads in all");
  const compiler::KernelInfo& info = function.info();
  if (info.required_threads[0])
    for (int i = 0; i < 3; ++i)
      if (shape.block[i] != std::max(info.required_threads[i], 1u))
        return Status(ErrorCode::kInvalidValue, "the kernel requires another block shape (.reqntid)");
  if (threads > info.max_threads)
    return Status(ErrorCode::kLaunchOutOfResources, "more threads than the kernel was compiled for (.maxntid)");
  if (shape.shared_bytes > static_cast<std::uint32_t>(function.max_dynamic_shared.load(std::memory_order_relaxed)))
    return Status(
        ErrorCode::kInvalidValue,
        "more dynamic shared memory than the function allows (see CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)");
  return {};
}

// Copies the arguments into the layout that the kernel reads.
Status pack_arguments(const compiler::KernelInfo& info, void** arguments, void** extra, std::byte* to) {
  if (arguments) {
    if (extra) return Status(ErrorCode::kInvalidValue, "both an argument array and an extra buffer");
    for (std::size_t i = 0; i < info.parameters.size(); ++i) {
      const compiler::Parameter& parameter = info.parameters[i];
      if (!arguments[i]) return Status(ErrorCode::kInvalidValue, "an argument's pointer is null");
      std::memcpy(to + parameter.offset, arguments[i], parameter.size);
    }
    return {};
  }
  if (info.param_bytes == 0) return {};
  if (!extra) return Status(ErrorCode::kInvalidValue, "the kernel has parameters and no arguments are given");
  const void* buffer = nullptr;
  std::size_t bytes = 0;
  for (int i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = extra[i + 1];
    } else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      if (!extra[i + 1]) return Status(ErrorCode::kInvalidValue, "no size of the argument buffer");
      bytes = *static_cast<const std::size_t*>(extra[i + 1]);
    } else {
      return Status(ErrorCode::kInvalidValue, "unknown entry in the extra array");
    }
  }
  if (!buffer || bytes < info.param_bytes)
    return Status(ErrorCode::kInvalidValue, "the argument buffer is smaller than the kernel's parameters");
  std::memcpy(to, buffer, info.param_bytes);
  return {};
}

Status check_cooperative(Function& function, const LaunchShape& shape) {
  const auto threads = shape.block[0] * shape.block[1] * shape.block[2];
  bool known = false;
  const auto multiprocessors = static_cast<std::uint64_t>(
      attribute_value(function.context().device(), CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &known));
  const auto blocks = std::uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
  if (blocks >
      multiprocessors * static_cast<std::uint64_t>(resident_blocks(function.info(), threads, shape.shared_bytes)))
    return Status(ErrorCode::kCooperativeLaunchTooLarge, "more blocks than can be resident at once");
  return {};
}

// A grid ready to run, with everything but its arguments.
Result<exec::Grid*> make_grid(const Ref<Function>& function, const LaunchShape& shape,
                              std::shared_ptr<CompiledVariant>* used) {
  HEDDLE_ASSIGN(std::shared_ptr<CompiledVariant> variant, function->get_variant(shape.block));
  const compiler::CompiledKernel& code = *variant->code;
  exec::Grid* const grid = exec::take_grid();
  exec::LaunchContext& launch = grid->launch;
  launch.globals = variant->globals.data();
  launch.engine = code.engine;
  launch.grid_x = shape.grid[0];
  launch.grid_y = shape.grid[1];
  launch.grid_z = shape.grid[2];
  launch.block_x = shape.block[0];
  launch.block_y = shape.block[1];
  launch.block_z = shape.block[2];
  launch.dynamic_shared = shape.shared_bytes;
  const std::uint32_t align = std::max<std::uint32_t>(code.shared_align, 16);
  launch.total_shared = (code.static_shared_bytes + align - 1) / align * align + shape.shared_bytes;
  launch.local_bytes = (code.local_bytes + 15) / 16 * 16;
  launch.frame_bytes = code.frame_bytes;
  launch.params = grid->param_storage(function->info().param_bytes);
  grid->warp = code.warp;
  grid->range = code.range;
  grid->shared_align = align;
  grid->cooperative = shape.cooperative;
  grid->device = &function->context().device().execution;
  grid->observer = function.get();
  grid->owner = Ref<RefCounted>(static_cast<Object*>(function.get()));
  grid->tag = variant.get();
  *used = std::move(variant);
  return grid;
}

}  // namespace

KernelOperation::KernelOperation(Ref<Function> function, const LaunchShape& shape, std::vector<std::byte> arguments)
    : function_(std::move(function)), shape_(shape), arguments_(std::move(arguments)) {
  for (const compiler::Parameter& parameter : function_->info().parameters)
    pointers_.push_back(arguments_.data() + parameter.offset);
}

void KernelOperation::run(Context& context) {
  std::shared_ptr<CompiledVariant> variant;
  const auto made = make_grid(function_, shape_, &variant);
  if (!made) {
    context.streams().fail(made.error().code());
    return;
  }
  exec::Grid* const grid = *made;
  std::memcpy(grid->launch.params, arguments_.data(), arguments_.size());
  exec::LaunchCost* const cost = &variant->cost;
  grid->code = std::move(variant);
  exec::run_now(grid, cost);
}

Result<Ref<KernelOperation>> make_kernel_operation(const Ref<Function>& function, const LaunchShape& shape,
                                                   void** arguments, void** extra) {
  HEDDLE_TRY(check_shape(*function, shape));
  if (shape.cooperative) HEDDLE_TRY(check_cooperative(*function, shape));
  std::vector<std::byte> packed(function->info().param_bytes);
  HEDDLE_TRY(pack_arguments(function->info(), arguments, extra, packed.data()));
  return make_ref<KernelOperation>(function, shape, std::move(packed));
}

CUresult launch(const void* handle, const LaunchShape& shape, CUstream stream_handle, void** arguments, void** extra) {
  DRIVER_ASSIGN(const Ref<Function> function, find_function(handle));
  const Ref<Stream> stream = find_stream(stream_handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, "stale or foreign stream");
  if (function->owner() != stream->owner())
    return fail(ErrorCode::kInvalidHandle, "function and stream belong to different contexts");
  if (stream->is_capturing()) {
    DRIVER_ASSIGN(const Ref<KernelOperation> operation, make_kernel_operation(function, shape, arguments, extra));
    return capture_operation(*stream, Ref<Operation>(operation.get()));
  }
  DRIVER_TRY(check_shape(*function, shape));
  if (shape.cooperative) DRIVER_TRY(check_cooperative(*function, shape));
  std::shared_ptr<CompiledVariant> variant;
  DRIVER_ASSIGN(exec::Grid* const grid, make_grid(function, shape, &variant));
  if (const Status packed =
          pack_arguments(function->info(), arguments, extra, static_cast<std::byte*>(grid->launch.params));
      !packed.ok()) {
    exec::give_grid(grid);
    return result_of(packed);
  }
  exec::LaunchCost* const cost = &variant->cost;
  grid->code = std::move(variant);
  exec::launch(stream->queue(), grid, cost);
  static const bool kBlocking = options().launch_blocking == "1";
  return kBlocking ? synchronize_stream(*stream) : CUDA_SUCCESS;
}

namespace {

CUresult launch_attributes(const CUlaunchConfig& configuration, LaunchShape* shape) {
  for (unsigned i = 0; i < configuration.numAttrs; ++i) {
    const CUlaunchAttribute& attribute = configuration.attrs[i];
    switch (attribute.id) {
      case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: shape->cooperative = attribute.value.cooperative != 0; break;
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        if (attribute.value.clusterDim.x > 1 || attribute.value.clusterDim.y > 1 || attribute.value.clusterDim.z > 1)
          return fail(ErrorCode::kNotSupported, "thread block clusters are not there yet");
        break;
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
      case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        return fail(ErrorCode::kNotSupported, "events recorded by launch attributes are not there yet");
      default: break;  // hints: priority, access windows, scheduling, carveout, programmatic serialisation
    }
  }
  return CUDA_SUCCESS;
}

// The kernel launch of CUDA before 4.0: shape and arguments are kept in the function.
CUresult launch_old(CUfunction handle, int width, int height, CUstream stream) {
  DRIVER_ASSIGN(const Ref<Function> function, find_function(handle));
  DRIVER_CHECK(width > 0 && height > 0, "a dimension of the grid is 0");
  LaunchShape shape;
  std::vector<std::byte> parameters;
  {
    MutexLock lock(function->mutex);
    std::memcpy(shape.block, function->old_block, sizeof shape.block);
    shape.shared_bytes = function->old_shared;
    parameters = function->old_parameters;
  }
  shape.grid[0] = static_cast<std::uint32_t>(width);
  shape.grid[1] = static_cast<std::uint32_t>(height);
  parameters.resize(std::max<std::size_t>(parameters.size(), function->info().param_bytes));
  std::size_t bytes = parameters.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, parameters.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  return launch(handle, shape, stream, nullptr, extra);
}

CUresult set_old_parameter(CUfunction handle, int offset, const void* value, std::size_t bytes) {
  DRIVER_ASSIGN(const Ref<Function> function, find_function(handle));
  DRIVER_CHECK(offset >= 0 && value, "a negative offset, or no value");
  DRIVER_CHECK(static_cast<std::size_t>(offset) + bytes <= 32764, "past the largest size of parameters");
  MutexLock lock(function->mutex);
  auto& buffer = function->old_parameters;
  buffer.resize(std::max(buffer.size(), static_cast<std::size_t>(offset) + bytes));
  std::memcpy(buffer.data() + offset, value, bytes);
  return CUDA_SUCCESS;
}

}  // namespace

namespace impl {

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                        unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
                        CUstream stream, void** arguments, void** extra) {
  return launch(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, false}, stream,
                arguments, extra);
}
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                   unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                   unsigned int shared_bytes, CUstream stream, void** arguments) {
  return launch(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, true}, stream,
                arguments, nullptr);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* configuration, CUfunction function, void** arguments, void** extra) {
  DRIVER_CHECK(configuration, "no launch configuration");
  DRIVER_CHECK(configuration->numAttrs == 0 || configuration->attrs, "attributes are announced and not given");
  LaunchShape shape = {{configuration->gridDimX, configuration->gridDimY, configuration->gridDimZ},
                       {configuration->blockDimX, configuration->blockDimY, configuration->blockDimZ},
                       configuration->sharedMemBytes,
                       false};
  if (const CUresult failed = launch_attributes(*configuration, &shape); failed != CUDA_SUCCESS) return failed;
  return launch(function, shape, configuration->hStream, arguments, extra);
}

CUresult cuFuncSetBlockShape(CUfunction handle, int x, int y, int z) {
  DRIVER_ASSIGN(const Ref<Function> function, find_function(handle));
  DRIVER_CHECK(x > 0 && y > 0 && z > 0, "a dimension of the block is 0");
  MutexLock lock(function->mutex);
  function->old_block[0] = static_cast<std::uint32_t>(x);
  function->old_block[1] = static_cast<std::uint32_t>(y);
  function->old_block[2] = static_cast<std::uint32_t>(z);
  return CUDA_SUCCESS;
}
CUresult cuFuncSetSharedSize(CUfunction handle, unsigned int bytes) {
  DRIVER_ASSIGN(const Ref<Function> function, find_function(handle));
  MutexLock lock(function->mutex);
  function->old_shared = bytes;
  return CUDA_SUCCESS;
}
CUresult cuParamSetSize(CUfunction handle, unsigned int bytes) {
  DRIVER_ASSIGN(const Ref<Function> function, find_function(handle));
  DRIVER_CHECK(bytes <= 32764, "past the largest size of parameters");
  MutexLock lock(function->mutex);
  function->old_parameters.resize(bytes);
  return CUDA_SUCCESS;
}
CUresult cuParamSeti(CUfunction function, int offset, unsigned int value) {
  return set_old_parameter(function, offset, &value, sizeof value);
}
CUresult cuParamSetf(CUfunction function, int offset, float value) {
  return set_old_parameter(function, offset, &value, sizeof value);
}
CUresult cuParamSetv(CUfunction function, int offset, void* pointer, unsigned int bytes) {
  return set_old_parameter(function, offset, pointer, bytes);
}
CUresult cuLaunch(CUfunction function) { return launch_old(function, 1, 1, nullptr); }
CUresult cuLaunchGrid(CUfunction function, int width, int height) {
  return launch_old(function, width, height, nullptr);
}
CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
  return launch_old(function, width, height, stream);
}

}  // namespace impl
}  // namespace heddle::driver

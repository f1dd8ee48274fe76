// cuMemcpy*: every form becomes a CopyPlan. Tested by tests/api/driver/copy_test.cc.
//
// How long a call waits is what the manual's page on synchronisation says: the forms without Async wait; an Async copy
// from pageable memory returns once the source may change, one to pageable memory when it has ended.
#include "driver/copy.h"

#include <cstring>
#include <memory>

#include "base/log.h"
#include "driver/array.h"
#include "driver/memory.h"
#include "exec/fault.h"

namespace heddle::driver {
namespace {

constexpr std::size_t kInlineBytes =
    64u << 10;  // an Async copy up to this size runs on the caller if nothing is pending
constexpr std::size_t kStagedBytes = 64u << 10;  // pageable sources up to this size are staged

void copy_rows(const CopyPlan& plan) {
  const auto* const from = reinterpret_cast<const char*>(plan.source.address);
  auto* const to = reinterpret_cast<char*>(plan.destination.address);
  const bool dense_rows = plan.source.pitch == plan.width && plan.destination.pitch == plan.width;
  for (std::size_t z = 0; z < plan.depth; ++z) {
    const char* const slice_from = from + z * plan.source.slice;
    char* const slice_to = to + z * plan.destination.slice;
    if (plan.height == 1 || dense_rows) {
      std::memmove(slice_to, slice_from, plan.width * plan.height);
      continue;
    }
    for (std::size_t y = 0; y < plan.height; ++y)
      std::memmove(slice_to + y * plan.destination.pitch, slice_from + y * plan.source.pitch, plan.width);
  }
}

}  // namespace

void CopyOperation::run(Context& context) {
  // A host pointer that can't be read is the program's mistake, and no reason to end the process.
  exec::install_fault_handler();
  exec::GuardedRegion region;
  const CopyPlan& plan = plan_;
  if (!exec::run_guarded(region, [&plan] { copy_rows(plan); })) {
    LOG_ERROR("a copy of %zu bytes from %#zx to %#zx touched memory that can't be accessed at %#zx", plan_.bytes(),
              static_cast<size_t>(plan_.source.address), static_cast<size_t>(plan_.destination.address),
              static_cast<size_t>(region.fault.address));
    context.streams().fail(ErrorCode::kIllegalAddress);
  }
}

namespace {

Status check_side(const CopySide& side, std::size_t width, std::size_t height, std::size_t depth) {
  const std::size_t last = side.slice * (depth - 1) + side.pitch * (height - 1) + width;
  return check_range(side.address, last);
}

// One side of a described copy. `device` is also the address of unified memory.
Result<CopySide> side_of(CUmemorytype type, const void* host, CUdeviceptr device, CUarray array, std::size_t x,
                         std::size_t y, std::size_t z, std::size_t pitch, std::size_t height,
                         const CUDA_MEMCPY3D& copy) {
  CopySide side;
  if (type == CU_MEMORYTYPE_ARRAY) {
    const Ref<Array> object = find_object<Array>(array);
    if (!object) return Status(ErrorCode::kInvalidHandle, "null, stale or foreign array");
    if (x + copy.WidthInBytes > object->row_bytes() || y + copy.Height > object->rows() ||
        z + copy.Depth > object->slices())
      return Status(ErrorCode::kInvalidValue, "the copy goes past the array's extent");
    side.pitch = object->pitch();
    side.slice = object->pitch() * object->rows();
    side.address = object->data() + z * side.slice + y * side.pitch + x;
    side.keeps = Ref<Object>(object.get());
    return side;
  }
  if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_DEVICE && type != CU_MEMORYTYPE_UNIFIED)
    return Status(ErrorCode::kInvalidValue, "unknown memory type");
  const auto base =
      type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uintptr_t>(host) : static_cast<std::uintptr_t>(device);
  if (base == 0) return Status(ErrorCode::kInvalidValue, "null address");
  side.pitch = pitch ? pitch : x + copy.WidthInBytes;
  if (copy.Height > 1 && side.pitch < x + copy.WidthInBytes)
    return Status(ErrorCode::kInvalidValue, "the pitch is smaller than a row");
  const std::size_t rows = height ? height : y + copy.Height;
  if (copy.Depth > 1 && rows < y + copy.Height)
    return Status(ErrorCode::kInvalidValue, "the height of a slice is smaller than the copy");
  side.slice = side.pitch * rows;
  side.address = base + z * side.slice + y * side.pitch + x;
  const bool known = find_allocation(side.address).has_value();
  if (!known && type == CU_MEMORYTYPE_DEVICE)
    return Status(ErrorCode::kInvalidValue, "not an address that the device can reach");
  side.is_pageable = !known;
  if (known) HEDDLE_TRY(check_side(side, copy.WidthInBytes, copy.Height, copy.Depth));
  return side;
}

Result<CopySide> linear_side(std::uintptr_t address, std::size_t bytes, bool must_be_device) {
  CopySide side;
  side.address = address;
  side.pitch = side.slice = bytes;
  if (address == 0) return Status(ErrorCode::kInvalidValue, "null address");
  const auto found = find_allocation(address);
  if (!found) {
    if (must_be_device) return Status(ErrorCode::kInvalidValue, "not an address that the device can reach");
    side.is_pageable = true;
    return side;
  }
  HEDDLE_TRY(check_range(address, bytes));
  return side;
}

enum class Form { kHostToDevice, kDeviceToHost, kDeviceToDevice, kUnified };

CUresult copy_linear(std::uintptr_t destination, std::uintptr_t source, std::size_t bytes, Form form, bool async,
                     CUstream stream) {
  if (bytes == 0)
    return find_stream(stream) ? CUDA_SUCCESS : fail(ErrorCode::kInvalidHandle, "stale or foreign stream");
  CopyPlan plan;
  plan.width = bytes;
  DRIVER_ASSIGN(plan.destination,
                linear_side(destination, bytes, form == Form::kHostToDevice || form == Form::kDeviceToDevice));
  DRIVER_ASSIGN(plan.source, linear_side(source, bytes, form == Form::kDeviceToHost || form == Form::kDeviceToDevice));
  CUDA_MEMCPY3D parameters = {};
  parameters.srcMemoryType = parameters.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  parameters.srcDevice = source;
  parameters.dstDevice = destination;
  parameters.WidthInBytes = parameters.srcPitch = parameters.dstPitch = bytes;
  parameters.Height = parameters.Depth = parameters.srcHeight = parameters.dstHeight = 1;
  return copy_in_stream(stream, std::move(plan), async, &parameters);
}

CUDA_MEMCPY3D widen(const CUDA_MEMCPY2D& c) {
  CUDA_MEMCPY3D copy = {};
  copy.srcXInBytes = c.srcXInBytes;
  copy.srcY = c.srcY;
  copy.srcMemoryType = c.srcMemoryType;
  copy.srcHost = c.srcHost;
  copy.srcDevice = c.srcDevice;
  copy.srcArray = c.srcArray;
  copy.srcPitch = c.srcPitch;
  copy.dstXInBytes = c.dstXInBytes;
  copy.dstY = c.dstY;
  copy.dstMemoryType = c.dstMemoryType;
  copy.dstHost = c.dstHost;
  copy.dstDevice = c.dstDevice;
  copy.dstArray = c.dstArray;
  copy.dstPitch = c.dstPitch;
  copy.WidthInBytes = c.WidthInBytes;
  copy.Height = c.Height;
  copy.Depth = 1;
  return copy;
}

CUDA_MEMCPY3D without_contexts(const CUDA_MEMCPY3D_PEER& c) {
  CUDA_MEMCPY3D copy = {};
  copy.srcXInBytes = c.srcXInBytes;
  copy.srcY = c.srcY;
  copy.srcZ = c.srcZ;
  copy.srcMemoryType = c.srcMemoryType;
  copy.srcHost = c.srcHost;
  copy.srcDevice = c.srcDevice;
  copy.srcArray = c.srcArray;
  copy.srcPitch = c.srcPitch;
  copy.srcHeight = c.srcHeight;
  copy.dstXInBytes = c.dstXInBytes;
  copy.dstY = c.dstY;
  copy.dstZ = c.dstZ;
  copy.dstMemoryType = c.dstMemoryType;
  copy.dstHost = c.dstHost;
  copy.dstDevice = c.dstDevice;
  copy.dstArray = c.dstArray;
  copy.dstPitch = c.dstPitch;
  copy.dstHeight = c.dstHeight;
  copy.WidthInBytes = c.WidthInBytes;
  copy.Height = c.Height;
  copy.Depth = c.Depth;
  return copy;
}

CUresult copy_described(const CUDA_MEMCPY3D& copy, bool async, CUstream stream) {
  if (copy.WidthInBytes == 0 || copy.Height == 0 || copy.Depth == 0) return CUDA_SUCCESS;
  DRIVER_ASSIGN(CopyPlan plan, plan_copy(copy));
  return copy_in_stream(stream, std::move(plan), async, &copy);
}

CUresult array_copy(CUarray to, std::size_t to_x, CUarray from, std::size_t from_x, CUdeviceptr device, void* host_to,
                    const void* host_from, std::size_t bytes, bool async, CUstream stream) {
  CUDA_MEMCPY3D copy = {};
  copy.WidthInBytes = bytes;
  copy.Height = copy.Depth = 1;
  if (from) {
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = from;
    copy.srcXInBytes = from_x;
  } else {
    copy.srcMemoryType = host_from ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    copy.srcHost = host_from;
    copy.srcDevice = device;
  }
  if (to) {
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = to;
    copy.dstXInBytes = to_x;
  } else {
    copy.dstMemoryType = host_to ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    copy.dstHost = host_to;
    copy.dstDevice = device;
  }
  return copy_described(copy, async, stream);
}

}  // namespace

Result<CopyPlan> plan_copy(const CUDA_MEMCPY3D& copy) {
  CopyPlan plan;
  plan.width = copy.WidthInBytes;
  plan.height = copy.Height;
  plan.depth = copy.Depth;
  if (copy.srcLOD || copy.dstLOD) return Status(ErrorCode::kInvalidValue, "the level of detail must be 0");
  HEDDLE_ASSIGN(plan.source, side_of(copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray, copy.srcXInBytes,
                                     copy.srcY, copy.srcZ, copy.srcPitch, copy.srcHeight, copy));
  HEDDLE_ASSIGN(plan.destination, side_of(copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray,
                                          copy.dstXInBytes, copy.dstY, copy.dstZ, copy.dstPitch, copy.dstHeight, copy));
  return plan;
}

CUresult copy_in_stream(CUstream handle, CopyPlan plan, bool async, const CUDA_MEMCPY3D* parameters) {
  const Ref<Stream> stream = find_stream(handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, "stale or foreign stream");
  const std::size_t bytes = plan.bytes();
  if (stream->is_capturing())
    return enqueue(*stream, make_ref<CopyOperation>(std::move(plan), parameters), Effort::kLong, !async);
  const bool from_pageable = plan.source.is_pageable, to_pageable = plan.destination.is_pageable;
  if (async && from_pageable && !to_pageable && bytes <= kStagedBytes && !stream->queue().idle()) {
    // The source is taken now, and written when its turn comes.
    auto staged = std::make_shared<std::unique_ptr<char[]>>(new char[bytes]);
    CopyPlan take = plan;
    take.destination = {};
    take.destination.address = reinterpret_cast<std::uintptr_t>(staged->get());
    take.destination.pitch = plan.width;
    take.destination.slice = plan.width * plan.height;
    make_ref<CopyOperation>(take)->run(stream->context());
    plan.source = take.destination;
    auto put = make_ref<CopyOperation>(std::move(plan));
    return enqueue(
        *stream,
        make_ref<FunctionOperation>(CU_GRAPH_NODE_TYPE_MEMCPY, [staged, put](Context& context) { put->run(context); }),
        Effort::kShort);
  }
  const bool wait = !async || from_pageable || to_pageable;
  return enqueue(*stream, make_ref<CopyOperation>(std::move(plan), parameters),
                 bytes <= kInlineBytes ? Effort::kShort : Effort::kLong, wait);
}

namespace impl {

CUresult cuMemcpy(CUdeviceptr destination, CUdeviceptr source, size_t bytes) {
  return copy_linear(destination, source, bytes, Form::kUnified, false, nullptr);
}
CUresult cuMemcpyAsync(CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream) {
  return copy_linear(destination, source, bytes, Form::kUnified, true, stream);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr destination, const void* source, size_t bytes) {
  return copy_linear(destination, reinterpret_cast<std::uintptr_t>(source), bytes, Form::kHostToDevice, false, nullptr);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void* source, size_t bytes, CUstream stream) {
  return copy_linear(destination, reinterpret_cast<std::uintptr_t>(source), bytes, Form::kHostToDevice, true, stream);
}
CUresult cuMemcpyDtoH_v2(void* destination, CUdeviceptr source, size_t bytes) {
  return copy_linear(reinterpret_cast<std::uintptr_t>(destination), source, bytes, Form::kDeviceToHost, false, nullptr);
}
CUresult cuMemcpyDtoHAsync_v2(void* destination, CUdeviceptr source, size_t bytes, CUstream stream) {
  return copy_linear(reinterpret_cast<std::uintptr_t>(destination), source, bytes, Form::kDeviceToHost, true, stream);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes) {
  return copy_linear(destination, source, bytes, Form::kDeviceToDevice, false, nullptr);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream) {
  return copy_linear(destination, source, bytes, Form::kDeviceToDevice, true, stream);
}
CUresult cuMemcpyPeer(CUdeviceptr destination, CUcontext destination_context, CUdeviceptr source,
                      CUcontext source_context, size_t bytes) {
  if (!find_object<Context>(destination_context) || !find_object<Context>(source_context))
    return fail(ErrorCode::kInvalidContext, "null, stale or foreign context");
  return copy_linear(destination, source, bytes, Form::kDeviceToDevice, false, nullptr);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr destination, CUcontext destination_context, CUdeviceptr source,
                           CUcontext source_context, size_t bytes, CUstream stream) {
  if (!find_object<Context>(destination_context) || !find_object<Context>(source_context))
    return fail(ErrorCode::kInvalidContext, "null, stale or foreign context");
  return copy_linear(destination, source, bytes, Form::kDeviceToDevice, true, stream);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* copy) {
  DRIVER_CHECK(copy, "no description of the copy");
  return copy_described(widen(*copy), false, nullptr);
}
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) { return impl::cuMemcpy2D_v2(copy); }
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  DRIVER_CHECK(copy, "no description of the copy");
  return copy_described(widen(*copy), true, stream);
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* copy) {
  DRIVER_CHECK(copy, "no description of the copy");
  return copy_described(*copy, false, nullptr);
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  DRIVER_CHECK(copy, "no description of the copy");
  return copy_described(*copy, true, stream);
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* copy) {
  DRIVER_CHECK(copy, "no description of the copy");
  return copy_described(without_contexts(*copy), false, nullptr);
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  DRIVER_CHECK(copy, "no description of the copy");
  return copy_described(without_contexts(*copy), true, stream);
}

CUresult cuMemcpyAtoA_v2(CUarray destination, size_t destination_offset, CUarray source, size_t source_offset,
                         size_t bytes) {
  if (!destination || !source) return fail(ErrorCode::kInvalidHandle, "null array");
  return array_copy(destination, destination_offset, source, source_offset, 0, nullptr, nullptr, bytes, false, nullptr);
}
CUresult cuMemcpyAtoD_v2(CUdeviceptr destination, CUarray source, size_t source_offset, size_t bytes) {
  if (!source) return fail(ErrorCode::kInvalidHandle, "null array");
  return array_copy(nullptr, 0, source, source_offset, destination, nullptr, nullptr, bytes, false, nullptr);
}
CUresult cuMemcpyDtoA_v2(CUarray destination, size_t destination_offset, CUdeviceptr source, size_t bytes) {
  if (!destination) return fail(ErrorCode::kInvalidHandle, "null array");
  return array_copy(destination, destination_offset, nullptr, 0, source, nullptr, nullptr, bytes, false, nullptr);
}
CUresult cuMemcpyAtoH_v2(void* destination, CUarray source, size_t source_offset, size_t bytes) {
  if (!source) return fail(ErrorCode::kInvalidHandle, "null array");
  return array_copy(nullptr, 0, source, source_offset, 0, destination, nullptr, bytes, false, nullptr);
}
CUresult cuMemcpyAtoHAsync_v2(void* destination, CUarray source, size_t source_offset, size_t bytes, CUstream stream) {
  if (!source) return fail(ErrorCode::kInvalidHandle, "null array");
  return array_copy(nullptr, 0, source, source_offset, 0, destination, nullptr, bytes, true, stream);
}
CUresult cuMemcpyHtoA_v2(CUarray destination, size_t destination_offset, const void* source, size_t bytes) {
  if (!destination) return fail(ErrorCode::kInvalidHandle, "null array");
  return array_copy(destination, destination_offset, nullptr, 0, 0, nullptr, source, bytes, false, nullptr);
}
CUresult cuMemcpyHtoAAsync_v2(CUarray destination, size_t destination_offset, const void* source, size_t bytes,
                              CUstream stream) {
  if (!destination) return fail(ErrorCode::kInvalidHandle, "null array");
  return array_copy(destination, destination_offset, nullptr, 0, 0, nullptr, source, bytes, true, stream);
}

}  // namespace impl
}  // namespace heddle::driver

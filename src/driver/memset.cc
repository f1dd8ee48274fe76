// Fills of 8, 16 and 32-bit values in one and two dimensions. Tested by tests/api/driver/copy_test.cc.
#include "driver/memset.h"

#include <cstring>

#include "driver/memory.h"
#include "driver/stream.h"

namespace heddle::driver {
namespace {

constexpr std::size_t kInlineBytes = 64u << 10;

template <class T>
void fill_row(std::uintptr_t address, T value, std::size_t count) {
  auto* const to = reinterpret_cast<T*>(address);
  for (std::size_t i = 0; i < count; ++i) to[i] = value;
}

void fill_row(std::uintptr_t address, unsigned value, unsigned element, std::size_t count) {
  switch (element) {
    case 1: std::memset(reinterpret_cast<void*>(address), static_cast<int>(value), count); break;
    case 2: fill_row(address, static_cast<std::uint16_t>(value), count); break;
    default: fill_row(address, static_cast<std::uint32_t>(value), count); break;
  }
}

CUresult fill(CUdeviceptr destination, std::size_t pitch, unsigned value, unsigned element, std::size_t width,
              std::size_t height, bool async, CUstream handle) {
  const Ref<Stream> stream = find_stream(handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, "stale or foreign stream");
  if (width == 0 || height == 0) return CUDA_SUCCESS;
  CUDA_MEMSET_NODE_PARAMS parameters = {};
  parameters.dst = destination;
  parameters.pitch = pitch;
  parameters.value = value;
  parameters.elementSize = element;
  parameters.width = width;
  parameters.height = height;
  DRIVER_TRY(check_fill(parameters));
  // Fills don't wait for device memory, but for host memory they do (the manual, "API synchronization behavior").
  const auto found = find_allocation(destination);
  return enqueue(*stream, make_ref<MemsetOperation>(parameters),
                 width * height * element <= kInlineBytes ? Effort::kShort : Effort::kLong,
                 !async && found && found->is_host());
}

}  // namespace

Status check_fill(const CUDA_MEMSET_NODE_PARAMS& p) {
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4)
    return Status(ErrorCode::kInvalidValue, "the element size must be 1, 2 or 4");
  if (p.dst % p.elementSize != 0) return Status(ErrorCode::kInvalidValue, "the address is not aligned to the element");
  if (p.height > 1 && (p.pitch < p.width * p.elementSize || p.pitch % p.elementSize != 0))
    return Status(ErrorCode::kInvalidValue, "the pitch is smaller than a row, or not aligned");
  return check_range(p.dst,
                     p.height > 1 ? p.pitch * (p.height - 1) + p.width * p.elementSize : p.width * p.elementSize);
}

void MemsetOperation::run(Context&) {
  const CUDA_MEMSET_NODE_PARAMS& p = parameters_;
  for (std::size_t y = 0; y < p.height; ++y) fill_row(p.dst + y * p.pitch, p.value, p.elementSize, p.width);
}

namespace impl {

CUresult cuMemsetD8_v2(CUdeviceptr destination, unsigned char value, size_t count) {
  return fill(destination, 0, value, 1, count, 1, false, nullptr);
}
CUresult cuMemsetD8Async(CUdeviceptr destination, unsigned char value, size_t count, CUstream stream) {
  return fill(destination, 0, value, 1, count, 1, true, stream);
}
CUresult cuMemsetD16_v2(CUdeviceptr destination, unsigned short value, size_t count) {
  return fill(destination, 0, value, 2, count, 1, false, nullptr);
}
CUresult cuMemsetD16Async(CUdeviceptr destination, unsigned short value, size_t count, CUstream stream) {
  return fill(destination, 0, value, 2, count, 1, true, stream);
}
CUresult cuMemsetD32_v2(CUdeviceptr destination, unsigned int value, size_t count) {
  return fill(destination, 0, value, 4, count, 1, false, nullptr);
}
CUresult cuMemsetD32Async(CUdeviceptr destination, unsigned int value, size_t count, CUstream stream) {
  return fill(destination, 0, value, 4, count, 1, true, stream);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr destination, size_t pitch, unsigned char value, size_t width, size_t height) {
  return fill(destination, pitch, value, 1, width, height, false, nullptr);
}
CUresult cuMemsetD2D8Async(CUdeviceptr destination, size_t pitch, unsigned char value, size_t width, size_t height,
                           CUstream stream) {
  return fill(destination, pitch, value, 1, width, height, true, stream);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr destination, size_t pitch, unsigned short value, size_t width, size_t height) {
  return fill(destination, pitch, value, 2, width, height, false, nullptr);
}
CUresult cuMemsetD2D16Async(CUdeviceptr destination, size_t pitch, unsigned short value, size_t width, size_t height,
                            CUstream stream) {
  return fill(destination, pitch, value, 2, width, height, true, stream);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr destination, size_t pitch, unsigned int value, size_t width, size_t height) {
  return fill(destination, pitch, value, 4, width, height, false, nullptr);
}
CUresult cuMemsetD2D32Async(CUdeviceptr destination, size_t pitch, unsigned int value, size_t width, size_t height,
                            CUstream stream) {
  return fill(destination, pitch, value, 4, width, height, true, stream);
}

}  // namespace impl
}  // namespace heddle::driver

// Copies and fills in every direction and shape. Shaped copies become one CUDA_MEMCPY3D, whatever they are called.
// Tested by tests/api/runtime.
#include "runtime/array.h"
#include "runtime/registration.h"

namespace heddle::runtime {
namespace {

bool valid_kind(cudaMemcpyKind kind) { return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault; }

cudaError_t copy(void* destination, const void* source, std::size_t count, cudaMemcpyKind kind) {
  if (!valid_kind(kind)) return cudaErrorInvalidMemcpyDirection;
  if (count == 0) return cudaSuccess;
  const auto& d = driver();
  const bool ptds = api::default_stream_is_per_thread();
  CUresult result;
  switch (kind) {
    case cudaMemcpyHostToDevice:
      result = (ptds ? d.cuMemcpyHtoD_v2_ptds : d.cuMemcpyHtoD_v2)(address_of(destination), source, count);
      break;
    case cudaMemcpyDeviceToHost:
      result = (ptds ? d.cuMemcpyDtoH_v2_ptds : d.cuMemcpyDtoH_v2)(destination, address_of(source), count);
      break;
    case cudaMemcpyDeviceToDevice:
      result = (ptds ? d.cuMemcpyDtoD_v2_ptds : d.cuMemcpyDtoD_v2)(address_of(destination), address_of(source), count);
      break;
    default: result = (ptds ? d.cuMemcpy_ptds : d.cuMemcpy)(address_of(destination), address_of(source), count); break;
  }
  return detail::as_runtime(result);
}

cudaError_t copy_async(void* destination, const void* source, std::size_t count, cudaMemcpyKind kind,
                       cudaStream_t stream) {
  if (!valid_kind(kind)) return cudaErrorInvalidMemcpyDirection;
  if (count == 0) return cudaSuccess;
  const auto& d = driver();
  const CUstream s = stream_of(stream);
  CUresult result;
  switch (kind) {
    case cudaMemcpyHostToDevice: result = d.cuMemcpyHtoDAsync_v2(address_of(destination), source, count, s); break;
    case cudaMemcpyDeviceToHost: result = d.cuMemcpyDtoHAsync_v2(destination, address_of(source), count, s); break;
    case cudaMemcpyDeviceToDevice:
      result = d.cuMemcpyDtoDAsync_v2(address_of(destination), address_of(source), count, s);
      break;
    default: result = d.cuMemcpyAsync(address_of(destination), address_of(source), count, s); break;
  }
  return detail::as_runtime(result);
}

/// One side of a shaped copy: plain memory or an array. `x` is in bytes.
struct Side {
  const void* pointer = nullptr;
  std::size_t pitch = 0, height = 0;
  CUarray array = nullptr;
  std::size_t x = 0, y = 0, z = 0;
};

CUmemorytype memory_type(const Side& side, bool on_host, cudaMemcpyKind kind) {
  if (side.array) return CU_MEMORYTYPE_ARRAY;
  if (kind == cudaMemcpyDefault) return CU_MEMORYTYPE_UNIFIED;
  return on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

cudaError_t describe(const Side& to, const Side& from, std::size_t width, std::size_t height, std::size_t depth,
                     cudaMemcpyKind kind, CUDA_MEMCPY3D* copy) {
  if (!valid_kind(kind)) return cudaErrorInvalidMemcpyDirection;
  if (!to.array && height > 1 && to.pitch < width) return cudaErrorInvalidPitchValue;
  if (!from.array && height > 1 && from.pitch < width) return cudaErrorInvalidPitchValue;
  *copy = {};
  copy->srcXInBytes = from.x;
  copy->srcY = from.y;
  copy->srcZ = from.z;
  copy->srcMemoryType = memory_type(from, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost, kind);
  copy->srcHost = from.pointer;
  copy->srcDevice = address_of(from.pointer);
  copy->srcArray = from.array;
  copy->srcPitch = from.pitch;
  copy->srcHeight = from.height;
  copy->dstXInBytes = to.x;
  copy->dstY = to.y;
  copy->dstZ = to.z;
  copy->dstMemoryType = memory_type(to, kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost, kind);
  copy->dstHost = const_cast<void*>(to.pointer);
  copy->dstDevice = address_of(to.pointer);
  copy->dstArray = to.array;
  copy->dstPitch = to.pitch;
  copy->dstHeight = to.height;
  copy->WidthInBytes = width;
  copy->Height = height;
  copy->Depth = depth;
  return cudaSuccess;
}

cudaError_t copy_shaped(const CUDA_MEMCPY3D& copy) {
  if (copy.WidthInBytes == 0 || copy.Height == 0 || copy.Depth == 0) return cudaSuccess;
  const auto& d = driver();
  return detail::as_runtime((api::default_stream_is_per_thread() ? d.cuMemcpy3D_v2_ptds : d.cuMemcpy3D_v2)(&copy));
}
cudaError_t copy_shaped_async(const CUDA_MEMCPY3D& copy, cudaStream_t stream) {
  if (copy.WidthInBytes == 0 || copy.Height == 0 || copy.Depth == 0) return cudaSuccess;
  return detail::as_runtime(driver().cuMemcpy3DAsync_v2(&copy, stream_of(stream)));
}

Side memory(const void* pointer, std::size_t pitch, std::size_t height) {
  return {pointer, pitch, height, nullptr, 0, 0, 0};
}
Side array_at(cudaArray_const_t array, std::size_t x, std::size_t y) {
  return {nullptr, 0, 0, to_driver(array), x, y, 0};
}

/// A linear run of `count` bytes into or out of an array, as whole rows: what the 1-D array copies mean.
cudaError_t rows_of(cudaArray_const_t array, std::size_t x, std::size_t count, std::size_t* width, std::size_t* rows) {
  CUDA_ARRAY3D_DESCRIPTOR d;
  CUDA_TRY(driver().cuArray3DGetDescriptor_v2(&d, to_driver(array)));
  const std::size_t row = d.Width * element_bytes(d.Format, d.NumChannels);
  if (x + count <= row) {
    *width = count;
    *rows = 1;
    return cudaSuccess;
  }
  if (x != 0 || count % row != 0) return cudaErrorInvalidValue;
  *width = row;
  *rows = count / row;
  return cudaSuccess;
}

cudaError_t find_symbol_part(const void* symbol, std::size_t count, std::size_t offset, char** address) {
  Symbol found;
  CUDA_TRY(find_symbol(symbol, &found));
  if (offset > found.bytes || count > found.bytes - offset) return cudaErrorInvalidValue;
  *address = reinterpret_cast<char*>(found.address) + offset;
  return cudaSuccess;
}

bool into_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}
bool out_of_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}

}  // namespace

cudaError_t to_driver(const cudaMemcpy3DParms& p, CUDA_MEMCPY3D* copy) {
  if ((!p.srcArray && !p.srcPtr.ptr) || (!p.dstArray && !p.dstPtr.ptr)) return cudaErrorInvalidValue;
  // Positions and widths count elements where an array takes part, else bytes.
  std::size_t source_unit = 1, destination_unit = 1;
  if (p.srcArray) CUDA_TRY(element_bytes_of(p.srcArray, &source_unit));
  if (p.dstArray) CUDA_TRY(element_bytes_of(p.dstArray, &destination_unit));
  const std::size_t unit = p.srcArray ? source_unit : destination_unit;
  Side from = p.srcArray ? array_at(p.srcArray, p.srcPos.x * source_unit, p.srcPos.y)
                         : memory(p.srcPtr.ptr, p.srcPtr.pitch, p.srcPtr.ysize);
  Side to = p.dstArray ? array_at(p.dstArray, p.dstPos.x * destination_unit, p.dstPos.y)
                       : memory(p.dstPtr.ptr, p.dstPtr.pitch, p.dstPtr.ysize);
  if (!p.srcArray) from.x = p.srcPos.x, from.y = p.srcPos.y;
  if (!p.dstArray) to.x = p.dstPos.x, to.y = p.dstPos.y;
  from.z = p.srcPos.z;
  to.z = p.dstPos.z;
  return describe(to, from, p.extent.width * unit, p.extent.height, p.extent.depth, p.kind, copy);
}

namespace impl {

cudaError_t cudaMemcpy(void* destination, const void* source, size_t count, enum cudaMemcpyKind kind) {
  return copy(destination, source, count, kind);
}
cudaError_t cudaMemcpyAsync(void* destination, const void* source, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return copy_async(destination, source, count, kind, stream);
}

cudaError_t cudaMemcpy2D(void* destination, size_t destination_pitch, const void* source, size_t source_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind) {
  CUDA_MEMCPY3D c;
  CUDA_TRY(describe(memory(destination, destination_pitch, height), memory(source, source_pitch, height), width, height,
                    1, kind, &c));
  return copy_shaped(c);
}
cudaError_t cudaMemcpy2DAsync(void* destination, size_t destination_pitch, const void* source, size_t source_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
  CUDA_MEMCPY3D c;
  CUDA_TRY(describe(memory(destination, destination_pitch, height), memory(source, source_pitch, height), width, height,
                    1, kind, &c));
  return copy_shaped_async(c, stream);
}
cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms* parameters) {
  if (!parameters) return cudaErrorInvalidValue;
  CUDA_MEMCPY3D c;
  CUDA_TRY(runtime::to_driver(*parameters, &c));
  return copy_shaped(c);
}
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  if (!parameters) return cudaErrorInvalidValue;
  CUDA_MEMCPY3D c;
  CUDA_TRY(runtime::to_driver(*parameters, &c));
  return copy_shaped_async(c, stream);
}

// ---- arrays
cudaError_t cudaMemcpy2DToArray(cudaArray_t destination, size_t x_offset, size_t y_offset, const void* source,
                                size_t source_pitch, size_t width, size_t height, enum cudaMemcpyKind kind) {
  CUDA_MEMCPY3D c;
  CUDA_TRY(describe(array_at(destination, x_offset, y_offset), memory(source, source_pitch, height), width, height, 1,
                    kind, &c));
  return copy_shaped(c);
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t destination, size_t x_offset, size_t y_offset, const void* source,
                                     size_t source_pitch, size_t width, size_t height, enum cudaMemcpyKind kind,
                                     cudaStream_t stream) {
  CUDA_MEMCPY3D c;
  CUDA_TRY(describe(array_at(destination, x_offset, y_offset), memory(source, source_pitch, height), width, height, 1,
                    kind, &c));
  return copy_shaped_async(c, stream);
}
cudaError_t cudaMemcpy2DFromArray(void* destination, size_t destination_pitch, cudaArray_const_t source,
                                  size_t x_offset, size_t y_offset, size_t width, size_t height,
                                  enum cudaMemcpyKind kind) {
  CUDA_MEMCPY3D c;
  CUDA_TRY(describe(memory(destination, destination_pitch, height), array_at(source, x_offset, y_offset), width, height,
                    1, kind, &c));
  return copy_shaped(c);
}
cudaError_t cudaMemcpy2DFromArrayAsync(void* destination, size_t destination_pitch, cudaArray_const_t source,
                                       size_t x_offset, size_t y_offset, size_t width, size_t height,
                                       enum cudaMemcpyKind kind, cudaStream_t stream) {
  CUDA_MEMCPY3D c;
  CUDA_TRY(describe(memory(destination, destination_pitch, height), array_at(source, x_offset, y_offset), width, height,
                    1, kind, &c));
  return copy_shaped_async(c, stream);
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t destination, size_t destination_x, size_t destination_y,
                                     cudaArray_const_t source, size_t source_x, size_t source_y, size_t width,
                                     size_t height, enum cudaMemcpyKind kind) {
  CUDA_MEMCPY3D c;
  CUDA_TRY(describe(array_at(destination, destination_x, destination_y), array_at(source, source_x, source_y), width,
                    height, 1, kind, &c));
  return copy_shaped(c);
}
cudaError_t cudaMemcpyToArray(cudaArray_t destination, size_t x_offset, size_t y_offset, const void* source,
                              size_t count, enum cudaMemcpyKind kind) {
  std::size_t width, rows;
  CUDA_TRY(rows_of(destination, x_offset, count, &width, &rows));
  return impl::cudaMemcpy2DToArray(destination, x_offset, y_offset, source, width, width, rows, kind);
}
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t destination, size_t x_offset, size_t y_offset, const void* source,
                                   size_t count, enum cudaMemcpyKind kind, cudaStream_t stream) {
  std::size_t width, rows;
  CUDA_TRY(rows_of(destination, x_offset, count, &width, &rows));
  return impl::cudaMemcpy2DToArrayAsync(destination, x_offset, y_offset, source, width, width, rows, kind, stream);
}
cudaError_t cudaMemcpyFromArray(void* destination, cudaArray_const_t source, size_t x_offset, size_t y_offset,
                                size_t count, enum cudaMemcpyKind kind) {
  std::size_t width, rows;
  CUDA_TRY(rows_of(source, x_offset, count, &width, &rows));
  return impl::cudaMemcpy2DFromArray(destination, width, source, x_offset, y_offset, width, rows, kind);
}
cudaError_t cudaMemcpyFromArrayAsync(void* destination, cudaArray_const_t source, size_t x_offset, size_t y_offset,
                                     size_t count, enum cudaMemcpyKind kind, cudaStream_t stream) {
  std::size_t width, rows;
  CUDA_TRY(rows_of(source, x_offset, count, &width, &rows));
  return impl::cudaMemcpy2DFromArrayAsync(destination, width, source, x_offset, y_offset, width, rows, kind, stream);
}

// ---- symbols
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* source, size_t count, size_t offset,
                               enum cudaMemcpyKind kind) {
  if (!into_device(kind)) return cudaErrorInvalidMemcpyDirection;
  char* address;
  CUDA_TRY(find_symbol_part(symbol, count, offset, &address));
  return copy(address, source, count, kind);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* source, size_t count, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream) {
  if (!into_device(kind)) return cudaErrorInvalidMemcpyDirection;
  char* address;
  CUDA_TRY(find_symbol_part(symbol, count, offset, &address));
  return copy_async(address, source, count, kind, stream);
}
cudaError_t cudaMemcpyFromSymbol(void* destination, const void* symbol, size_t count, size_t offset,
                                 enum cudaMemcpyKind kind) {
  if (!out_of_device(kind)) return cudaErrorInvalidMemcpyDirection;
  char* address;
  CUDA_TRY(find_symbol_part(symbol, count, offset, &address));
  return copy(destination, address, count, kind);
}
cudaError_t cudaMemcpyFromSymbolAsync(void* destination, const void* symbol, size_t count, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
  if (!out_of_device(kind)) return cudaErrorInvalidMemcpyDirection;
  char* address;
  CUDA_TRY(find_symbol_part(symbol, count, offset, &address));
  return copy_async(destination, address, count, kind, stream);
}

// ---- peers: with unified addresses an ordinary copy
cudaError_t cudaMemcpyPeer(void* destination, int, const void* source, int, size_t count) {
  return copy(destination, source, count, cudaMemcpyDefault);
}
cudaError_t cudaMemcpyPeerAsync(void* destination, int, const void* source, int, size_t count, cudaStream_t stream) {
  return copy_async(destination, source, count, cudaMemcpyDefault, stream);
}

// ---- fills
cudaError_t cudaMemset(void* pointer, int value, size_t count) {
  if (count == 0) return cudaSuccess;
  const auto& d = driver();
  return detail::as_runtime((api::default_stream_is_per_thread() ? d.cuMemsetD8_v2_ptds : d.cuMemsetD8_v2)(
      address_of(pointer), static_cast<unsigned char>(value), count));
}
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t count, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  return detail::as_runtime(
      driver().cuMemsetD8Async(address_of(pointer), static_cast<unsigned char>(value), count, stream_of(stream)));
}
cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  if (width == 0 || height == 0) return cudaSuccess;
  const auto& d = driver();
  return detail::as_runtime((api::default_stream_is_per_thread() ? d.cuMemsetD2D8_v2_ptds : d.cuMemsetD2D8_v2)(
      address_of(pointer), pitch, static_cast<unsigned char>(value), width, height));
}
cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  if (width == 0 || height == 0) return cudaSuccess;
  return detail::as_runtime(driver().cuMemsetD2D8Async(address_of(pointer), pitch, static_cast<unsigned char>(value),
                                                       width, height, stream_of(stream)));
}
cudaError_t cudaMemset3D(struct cudaPitchedPtr pointer, int value, struct cudaExtent extent) {
  // Planes lie ysize rows apart.
  for (std::size_t z = 0; z < extent.depth; ++z) {
    char* plane = static_cast<char*>(pointer.ptr) + z * pointer.ysize * pointer.pitch;
    CUDA_TRY(impl::cudaMemset2D(plane, pointer.pitch, value, extent.width, extent.height));
  }
  return cudaSuccess;
}
cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pointer, int value, struct cudaExtent extent, cudaStream_t stream) {
  for (std::size_t z = 0; z < extent.depth; ++z) {
    char* plane = static_cast<char*>(pointer.ptr) + z * pointer.ysize * pointer.pitch;
    CUDA_TRY(impl::cudaMemset2DAsync(plane, pointer.pitch, value, extent.width, extent.height, stream));
  }
  return cudaSuccess;
}

}  // namespace impl
}  // namespace heddle::runtime

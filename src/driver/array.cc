// CUDA arrays and mipmapped arrays. Tested by tests/api/driver/copy_test.cc.
#include "driver/array.h"

#include <algorithm>

namespace heddle::driver {
namespace {

std::size_t bytes_of(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: return 0;  // compressed and planar formats
  }
}

/// The levels of a mipmapped array: arrays that it keeps.
class MipmappedArray final : public Object {
 public:
  static constexpr Tag kTag = Tag::kMipmappedArray;
  explicit MipmappedArray(Context* context) : Object(Tag::kMipmappedArray, context) {}
  std::vector<Ref<Array>> levels;
};

Status check(const CUDA_ARRAY3D_DESCRIPTOR& d) {
  if (d.Width == 0) return Status(ErrorCode::kInvalidValue, "the width must not be 0");
  if (d.NumChannels != 1 && d.NumChannels != 2 && d.NumChannels != 4)
    return Status(ErrorCode::kInvalidValue, "an element has 1, 2 or 4 channels");
  if (bytes_of(d.Format) == 0)
    return Status(ErrorCode::kNotSupported, "compressed and planar formats are not there yet");
  if (d.Height == 0 && d.Depth != 0 && !(d.Flags & CUDA_ARRAY3D_LAYERED))
    return Status(ErrorCode::kInvalidValue, "a depth without a height");
  constexpr unsigned kKnown =
      CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER;
  if (d.Flags & ~kKnown) return Status(ErrorCode::kNotSupported, "a kind of array that is not there yet");
  if (d.Width > 1u << 28 || d.Height > 1u << 17 || d.Depth > 1u << 15)
    return Status(ErrorCode::kInvalidValue, "larger than an array can be");
  return {};
}

Result<Ref<Array>> make_array(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
  HEDDLE_TRY(check(descriptor));
  Context& context = *Context::current();
  const Array shape(&context, descriptor, 0);
  HEDDLE_ASSIGN(const std::uintptr_t data, context.memory().allocate(shape.bytes(), context.new_tag()));
  return make_ref<Array>(&context, descriptor, data);
}

constexpr const char* kStale = "null, stale or foreign array";

}  // namespace

std::size_t Array::element_bytes() const { return bytes_of(descriptor_.Format) * descriptor_.NumChannels; }

Array::~Array() {
  if (data_) (void)owner()->memory().free(data_);
}

namespace impl {

CUresult cuArray3DCreate_v2(CUarray* handle, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
  DRIVER_CHECK(handle && descriptor, "no place for the array's handle, or no descriptor");
  DRIVER_ASSIGN(const Ref<Array> array, make_array(*descriptor));
  *handle = publish<CUarray>(array);
  return CUDA_SUCCESS;
}
CUresult cuArrayCreate_v2(CUarray* handle, const CUDA_ARRAY_DESCRIPTOR* descriptor) {
  DRIVER_CHECK(handle && descriptor, "no place for the array's handle, or no descriptor");
  const CUDA_ARRAY3D_DESCRIPTOR wide = {descriptor->Width,  descriptor->Height,      0,
                                        descriptor->Format, descriptor->NumChannels, 0};
  return impl::cuArray3DCreate_v2(handle, &wide);
}
CUresult cuArrayDestroy(CUarray handle) {
  const Ref<Array> array = find_object<Array>(handle);
  if (!array) return fail(ErrorCode::kInvalidHandle, kStale);
  array->owner()->streams().synchronize();
  if (!registry::remove(array.get())) return fail(ErrorCode::kInvalidHandle, kStale);
  return CUDA_SUCCESS;
}
CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* descriptor, CUarray handle) {
  DRIVER_CHECK(descriptor, "no place for the descriptor");
  const Ref<Array> array = find_object<Array>(handle);
  if (!array) return fail(ErrorCode::kInvalidHandle, kStale);
  *descriptor = array->descriptor();
  return CUDA_SUCCESS;
}
CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* descriptor, CUarray handle) {
  DRIVER_CHECK(descriptor, "no place for the descriptor");
  const Ref<Array> array = find_object<Array>(handle);
  if (!array) return fail(ErrorCode::kInvalidHandle, kStale);
  const CUDA_ARRAY3D_DESCRIPTOR& d = array->descriptor();
  *descriptor = {d.Width, d.Height, d.Format, d.NumChannels};
  return CUDA_SUCCESS;
}
CUresult cuMipmappedArrayCreate(CUmipmappedArray* handle, const CUDA_ARRAY3D_DESCRIPTOR* descriptor,
                                unsigned int levels) {
  DRIVER_CHECK(handle && descriptor && levels, "no place for the array's handle, no descriptor, or no levels");
  CUDA_ARRAY3D_DESCRIPTOR d = *descriptor;
  auto made = make_ref<MipmappedArray>(Context::current());
  for (unsigned level = 0; level < levels; ++level) {
    DRIVER_ASSIGN(const Ref<Array> array, make_array(d));
    made->levels.push_back(array);
    if (d.Width <= 1 && d.Height <= 1 && (d.Depth <= 1 || d.Flags & CUDA_ARRAY3D_LAYERED)) break;
    d.Width = std::max<size_t>(d.Width / 2, 1);
    if (d.Height) d.Height = std::max<size_t>(d.Height / 2, 1);
    if (d.Depth && !(d.Flags & CUDA_ARRAY3D_LAYERED)) d.Depth = std::max<size_t>(d.Depth / 2, 1);
  }
  *handle = publish<CUmipmappedArray>(made);
  return CUDA_SUCCESS;
}
CUresult cuMipmappedArrayGetLevel(CUarray* level_array, CUmipmappedArray handle, unsigned int level) {
  DRIVER_CHECK(level_array, "no place for the level's handle");
  const Ref<MipmappedArray> array = find_object<MipmappedArray>(handle);
  if (!array) return fail(ErrorCode::kInvalidHandle, kStale);
  DRIVER_CHECK(level < array->levels.size(), "no such level");
  *level_array = publish<CUarray>(array->levels[level]);
  return CUDA_SUCCESS;
}
CUresult cuMipmappedArrayDestroy(CUmipmappedArray handle) {
  const Ref<MipmappedArray> array = find_object<MipmappedArray>(handle);
  if (!array) return fail(ErrorCode::kInvalidHandle, kStale);
  array->owner()->streams().synchronize();
  registry::remove(array.get());
  for (const Ref<Array>& level : array->levels) registry::remove(level.get());
  return CUDA_SUCCESS;
}

}  // namespace impl
}  // namespace heddle::driver

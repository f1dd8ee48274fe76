// Texture and surface objects. Tested by tests/api/driver/texture_test.cc.
#include "exec/texture.h"

#include <map>

#include "driver/array.h"
#include "driver/memory.h"

namespace heddle::driver {
namespace {

using exec::Texture;

/// The handle that kernels get is the address of `texture` inside; the registry knows the object by it.
class TextureObject final : public Object {
 public:
  TextureObject(Tag tag, Context* context) : Object(tag, context) {}
  Texture texture;
  Ref<Array> array;
  CUDA_RESOURCE_DESC resource = {};
  CUDA_TEXTURE_DESC description = {};
  CUDA_RESOURCE_VIEW_DESC view = {};
};

// Handles are few and looked up rarely, so a list of their own.
struct Handles {
  Mutex mutex;
  std::map<std::uint64_t, TextureObject*> all GUARDED_BY(mutex);
};
Handles& handles() {
  static Handles* const kHandles = new Handles;
  return *kHandles;
}

Ref<TextureObject> find(std::uint64_t handle, Tag tag) {
  MutexLock lock(handles().mutex);
  const auto found = handles().all.find(handle);
  if (found == handles().all.end() || !registry::find(static_cast<Object*>(found->second), tag)) return {};
  return Ref<TextureObject>(found->second);
}

std::uint64_t publish_texture(const Ref<TextureObject>& object) {
  registry::add(object.get());
  const auto handle = reinterpret_cast<std::uint64_t>(&object->texture);
  MutexLock lock(handles().mutex);
  handles().all[handle] = object.get();
  return handle;
}

CUresult destroy(std::uint64_t handle, Tag tag) {
  const Ref<TextureObject> object = find(handle, tag);
  DRIVER_CHECK(object, "null, stale or foreign object");
  object->owner()->streams().synchronize();
  {
    MutexLock lock(handles().mutex);
    handles().all.erase(handle);
  }
  registry::remove(object.get());
  object->texture.magic = 0;
  return CUDA_SUCCESS;
}

Result<Texture::Format> format_of(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8: return Texture::Format::kU8;
    case CU_AD_FORMAT_SIGNED_INT8: return Texture::Format::kS8;
    case CU_AD_FORMAT_UNSIGNED_INT16: return Texture::Format::kU16;
    case CU_AD_FORMAT_SIGNED_INT16: return Texture::Format::kS16;
    case CU_AD_FORMAT_UNSIGNED_INT32: return Texture::Format::kU32;
    case CU_AD_FORMAT_SIGNED_INT32: return Texture::Format::kS32;
    case CU_AD_FORMAT_HALF: return Texture::Format::kF16;
    case CU_AD_FORMAT_FLOAT: return Texture::Format::kF32;
    default: return Status(ErrorCode::kNotSupported, "compressed and planar formats are not there yet");
  }
}

Status describe(const CUDA_RESOURCE_DESC& resource, TextureObject& object) {
  Texture& t = object.texture;
  object.resource = resource;
  switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY: {
      object.array = find_object<Array>(resource.res.array.hArray);
      if (!object.array) return Status(ErrorCode::kInvalidHandle, "null, stale or foreign array");
      const CUDA_ARRAY3D_DESCRIPTOR& d = object.array->descriptor();
      t.data = object.array->data();
      t.pitch = object.array->pitch();
      t.slice = t.pitch * object.array->rows();
      t.width = static_cast<std::uint32_t>(d.Width);
      t.height = static_cast<std::uint32_t>(object.array->rows());
      t.depth = static_cast<std::uint32_t>(object.array->slices());
      t.channels = static_cast<std::uint8_t>(d.NumChannels);
      HEDDLE_ASSIGN(t.format, format_of(d.Format));
      return {};
    }
    case CU_RESOURCE_TYPE_LINEAR: {
      const auto& r = resource.res.linear;
      t.data = r.devPtr;
      t.channels = static_cast<std::uint8_t>(r.numChannels);
      HEDDLE_ASSIGN(t.format, format_of(r.format));
      if (t.channels != 1 && t.channels != 2 && t.channels != 4)
        return Status(ErrorCode::kInvalidValue, "a texel has 1, 2 or 4 channels");
      HEDDLE_TRY(check_range(r.devPtr, r.sizeInBytes));
      t.width = static_cast<std::uint32_t>(r.sizeInBytes / t.texel_bytes());
      t.is_linear_memory = true;
      return {};
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
      const auto& r = resource.res.pitch2D;
      t.data = r.devPtr;
      t.channels = static_cast<std::uint8_t>(r.numChannels);
      HEDDLE_ASSIGN(t.format, format_of(r.format));
      if (t.channels != 1 && t.channels != 2 && t.channels != 4)
        return Status(ErrorCode::kInvalidValue, "a texel has 1, 2 or 4 channels");
      t.width = static_cast<std::uint32_t>(r.width);
      t.height = static_cast<std::uint32_t>(r.height);
      t.pitch = r.pitchInBytes;
      if (r.width == 0 || r.height == 0 || r.pitchInBytes < r.width * t.texel_bytes())
        return Status(ErrorCode::kInvalidValue, "the pitch is smaller than a row, or the texture is empty");
      return check_range(r.devPtr, r.pitchInBytes * (r.height - 1) + r.width * t.texel_bytes());
    }
    default: return Status(ErrorCode::kNotSupported, "textures of mipmapped arrays are not there yet");
  }
}

}  // namespace

namespace impl {

CUresult cuTexObjectCreate(CUtexObject* handle, const CUDA_RESOURCE_DESC* resource, const CUDA_TEXTURE_DESC* texture,
                           const CUDA_RESOURCE_VIEW_DESC* view) {
  DRIVER_CHECK(handle && resource && texture, "no place for the handle, or no description");
  if (view && view->format != CU_RES_VIEW_FORMAT_NONE)
    return fail(ErrorCode::kNotSupported, "views of another format are not there yet");
  auto object = make_ref<TextureObject>(Tag::kTexture, Context::current());
  DRIVER_TRY(describe(*resource, *object));
  object->description = *texture;
  exec::Texture& t = object->texture;
  for (int d = 0; d < 3; ++d) {
    DRIVER_CHECK(texture->addressMode[d] <= CU_TR_ADDRESS_MODE_BORDER, "unknown address mode");
    t.address[d] = static_cast<exec::Texture::Address>(texture->addressMode[d]);
  }
  DRIVER_CHECK(texture->filterMode <= CU_TR_FILTER_MODE_LINEAR, "unknown filter mode");
  t.is_linear_filter = texture->filterMode == CU_TR_FILTER_MODE_LINEAR;
  t.is_normalized = texture->flags & CU_TRSF_NORMALIZED_COORDINATES;
  t.reads_as_integer = texture->flags & CU_TRSF_READ_AS_INTEGER;
  if (texture->flags & CU_TRSF_SRGB) return fail(ErrorCode::kNotSupported, "sRGB conversion is not there yet");
  for (int c = 0; c < 4; ++c) t.border[c] = texture->borderColor[c];
  *handle = publish_texture(object);
  return CUDA_SUCCESS;
}
CUresult cuTexObjectDestroy(CUtexObject handle) { return destroy(handle, Tag::kTexture); }
CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUtexObject handle) {
  const Ref<TextureObject> object = find(handle, Tag::kTexture);
  DRIVER_CHECK(resource && object, "null, stale or foreign object");
  *resource = object->resource;
  return CUDA_SUCCESS;
}
CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* texture, CUtexObject handle) {
  const Ref<TextureObject> object = find(handle, Tag::kTexture);
  DRIVER_CHECK(texture && object, "null, stale or foreign object");
  *texture = object->description;
  return CUDA_SUCCESS;
}
CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* view, CUtexObject handle) {
  const Ref<TextureObject> object = find(handle, Tag::kTexture);
  DRIVER_CHECK(view && object, "null, stale or foreign object");
  *view = object->view;
  return CUDA_SUCCESS;
}
CUresult cuSurfObjectCreate(CUsurfObject* handle, const CUDA_RESOURCE_DESC* resource) {
  DRIVER_CHECK(handle && resource, "no place for the handle, or no description");
  DRIVER_CHECK(resource->resType == CU_RESOURCE_TYPE_ARRAY, "surfaces are of arrays only");
  auto object = make_ref<TextureObject>(Tag::kSurface, Context::current());
  DRIVER_TRY(describe(*resource, *object));
  *handle = publish_texture(object);
  return CUDA_SUCCESS;
}
CUresult cuSurfObjectDestroy(CUsurfObject handle) { return destroy(handle, Tag::kSurface); }
CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUsurfObject handle) {
  const Ref<TextureObject> object = find(handle, Tag::kSurface);
  DRIVER_CHECK(resource && object, "null, stale or foreign object");
  *resource = object->resource;
  return CUDA_SUCCESS;
}

}  // namespace impl
}  // namespace heddle::driver

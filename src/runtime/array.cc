// Arrays, texture objects and surface objects.
#include "runtime/array.h"

#include <cstring>

namespace heddle::runtime {
namespace {

CUresult create(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR& d) { return driver().cuArray3DCreate_v2(array, &d); }

cudaError_t create_array(cudaArray_t* array, const cudaChannelFormatDesc* descriptor, cudaExtent extent,
                         unsigned flags) {
  if (!array || !descriptor) return cudaErrorInvalidValue;
  CUDA_ARRAY3D_DESCRIPTOR d = {};
  d.Width = extent.width;
  d.Height = extent.height;
  d.Depth = extent.depth;
  d.Flags = flags;
  CUDA_TRY(to_driver(*descriptor, &d.Format, &d.NumChannels));
  return detail::as_runtime(create(reinterpret_cast<CUarray*>(array), d));
}

cudaError_t to_resource(const cudaResourceDesc& resource, CUDA_RESOURCE_DESC* d) {
  *d = {};
  d->flags = resource.flags;
  switch (resource.resType) {
    case cudaResourceTypeArray:
      d->resType = CU_RESOURCE_TYPE_ARRAY;
      d->res.array.hArray = to_driver(resource.res.array.array);
      return cudaSuccess;
    case cudaResourceTypeMipmappedArray:
      d->resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
      d->res.mipmap.hMipmappedArray = reinterpret_cast<CUmipmappedArray>(resource.res.mipmap.mipmap);
      return cudaSuccess;
    case cudaResourceTypeLinear:
      d->resType = CU_RESOURCE_TYPE_LINEAR;
      d->res.linear.devPtr = address_of(resource.res.linear.devPtr);
      d->res.linear.sizeInBytes = resource.res.linear.sizeInBytes;
      return to_driver(resource.res.linear.desc, &d->res.linear.format, &d->res.linear.numChannels);
    case cudaResourceTypePitch2D:
      d->resType = CU_RESOURCE_TYPE_PITCH2D;
      d->res.pitch2D.devPtr = address_of(resource.res.pitch2D.devPtr);
      d->res.pitch2D.width = resource.res.pitch2D.width;
      d->res.pitch2D.height = resource.res.pitch2D.height;
      d->res.pitch2D.pitchInBytes = resource.res.pitch2D.pitchInBytes;
      return to_driver(resource.res.pitch2D.desc, &d->res.pitch2D.format, &d->res.pitch2D.numChannels);
    default: return cudaErrorInvalidValue;
  }
}

cudaError_t from_resource(const CUDA_RESOURCE_DESC& d, cudaResourceDesc* resource) {
  *resource = {};
  switch (d.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      resource->resType = cudaResourceTypeArray;
      resource->res.array.array = reinterpret_cast<cudaArray_t>(d.res.array.hArray);
      return cudaSuccess;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      resource->resType = cudaResourceTypeMipmappedArray;
      resource->res.mipmap.mipmap = reinterpret_cast<cudaMipmappedArray_t>(d.res.mipmap.hMipmappedArray);
      return cudaSuccess;
    case CU_RESOURCE_TYPE_LINEAR:
      resource->resType = cudaResourceTypeLinear;
      resource->res.linear.devPtr = reinterpret_cast<void*>(d.res.linear.devPtr);
      resource->res.linear.desc = runtime::to_runtime(d.res.linear.format, d.res.linear.numChannels);
      resource->res.linear.sizeInBytes = d.res.linear.sizeInBytes;
      return cudaSuccess;
    case CU_RESOURCE_TYPE_PITCH2D:
      resource->resType = cudaResourceTypePitch2D;
      resource->res.pitch2D.devPtr = reinterpret_cast<void*>(d.res.pitch2D.devPtr);
      resource->res.pitch2D.desc = runtime::to_runtime(d.res.pitch2D.format, d.res.pitch2D.numChannels);
      resource->res.pitch2D.width = d.res.pitch2D.width;
      resource->res.pitch2D.height = d.res.pitch2D.height;
      resource->res.pitch2D.pitchInBytes = d.res.pitch2D.pitchInBytes;
      return cudaSuccess;
    default: return cudaErrorUnknown;
  }
}

CUDA_TEXTURE_DESC to_texture(const cudaTextureDesc& texture) {
  CUDA_TEXTURE_DESC d = {};
  for (int i = 0; i < 3; ++i) d.addressMode[i] = static_cast<CUaddress_mode>(texture.addressMode[i]);
  d.filterMode = static_cast<CUfilter_mode>(texture.filterMode);
  if (texture.readMode == cudaReadModeElementType) d.flags |= CU_TRSF_READ_AS_INTEGER;
  if (texture.normalizedCoords) d.flags |= CU_TRSF_NORMALIZED_COORDINATES;
  if (texture.sRGB) d.flags |= CU_TRSF_SRGB;
  if (texture.disableTrilinearOptimization) d.flags |= CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
  if (texture.seamlessCubemap) d.flags |= CU_TRSF_SEAMLESS_CUBEMAP;
  d.maxAnisotropy = texture.maxAnisotropy;
  d.mipmapFilterMode = static_cast<CUfilter_mode>(texture.mipmapFilterMode);
  d.mipmapLevelBias = texture.mipmapLevelBias;
  d.minMipmapLevelClamp = texture.minMipmapLevelClamp;
  d.maxMipmapLevelClamp = texture.maxMipmapLevelClamp;
  std::memcpy(d.borderColor, texture.borderColor, sizeof d.borderColor);
  return d;
}

cudaTextureDesc from_texture(const CUDA_TEXTURE_DESC& d) {
  cudaTextureDesc texture = {};
  for (int i = 0; i < 3; ++i) texture.addressMode[i] = static_cast<cudaTextureAddressMode>(d.addressMode[i]);
  texture.filterMode = static_cast<cudaTextureFilterMode>(d.filterMode);
  texture.readMode = d.flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  texture.normalizedCoords = (d.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  texture.sRGB = (d.flags & CU_TRSF_SRGB) != 0;
  texture.disableTrilinearOptimization = (d.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
  texture.seamlessCubemap = (d.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
  texture.maxAnisotropy = d.maxAnisotropy;
  texture.mipmapFilterMode = static_cast<cudaTextureFilterMode>(d.mipmapFilterMode);
  texture.mipmapLevelBias = d.mipmapLevelBias;
  texture.minMipmapLevelClamp = d.minMipmapLevelClamp;
  texture.maxMipmapLevelClamp = d.maxMipmapLevelClamp;
  std::memcpy(texture.borderColor, d.borderColor, sizeof texture.borderColor);
  return texture;
}

}  // namespace

std::size_t element_bytes(CUarray_format format, unsigned channels) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return channels;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2 * channels;
    default: return 4 * channels;
  }
}

cudaError_t element_bytes_of(cudaArray_const_t array, std::size_t* bytes) {
  CUDA_ARRAY3D_DESCRIPTOR d;
  CUDA_TRY(driver().cuArray3DGetDescriptor_v2(&d, to_driver(array)));
  *bytes = element_bytes(d.Format, d.NumChannels);
  return cudaSuccess;
}

cudaError_t to_driver(const cudaChannelFormatDesc& c, CUarray_format* format, unsigned* channels) {
  const int sizes[] = {c.x, c.y, c.z, c.w};
  *channels = 0;
  while (*channels < 4 && sizes[*channels] != 0) ++*channels;
  for (unsigned i = 0; i < 4; ++i) {
    if (i < *channels ? sizes[i] != c.x : sizes[i] != 0) return cudaErrorInvalidChannelDescriptor;
  }
  if (*channels == 0 || *channels == 3) return cudaErrorInvalidChannelDescriptor;
  switch (c.f) {
    case cudaChannelFormatKindSigned:
      *format = c.x == 8 ? CU_AD_FORMAT_SIGNED_INT8 : c.x == 16 ? CU_AD_FORMAT_SIGNED_INT16 : CU_AD_FORMAT_SIGNED_INT32;
      break;
    case cudaChannelFormatKindUnsigned:
      *format = c.x == 8    ? CU_AD_FORMAT_UNSIGNED_INT8
                : c.x == 16 ? CU_AD_FORMAT_UNSIGNED_INT16
                            : CU_AD_FORMAT_UNSIGNED_INT32;
      break;
    case cudaChannelFormatKindFloat:
      if (c.x == 8) return cudaErrorInvalidChannelDescriptor;
      *format = c.x == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
      break;
    default: return cudaErrorInvalidChannelDescriptor;
  }
  return c.x == 8 || c.x == 16 || c.x == 32 ? cudaSuccess : cudaErrorInvalidChannelDescriptor;
}

cudaChannelFormatDesc to_runtime(CUarray_format format, unsigned channels) {
  const int bits = static_cast<int>(element_bytes(format, 1) * 8);
  cudaChannelFormatKind kind = cudaChannelFormatKindFloat;
  if (format == CU_AD_FORMAT_SIGNED_INT8 || format == CU_AD_FORMAT_SIGNED_INT16 ||
      format == CU_AD_FORMAT_SIGNED_INT32) {
    kind = cudaChannelFormatKindSigned;
  } else if (format == CU_AD_FORMAT_UNSIGNED_INT8 || format == CU_AD_FORMAT_UNSIGNED_INT16 ||
             format == CU_AD_FORMAT_UNSIGNED_INT32) {
    kind = cudaChannelFormatKindUnsigned;
  }
  return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0, kind};
}

namespace impl {

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaMallocArray(cudaArray_t* array, const struct cudaChannelFormatDesc* descriptor, size_t width,
                            size_t height, unsigned int flags) {
  return create_array(array, descriptor, {width, height, 0}, flags);
}
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const struct cudaChannelFormatDesc* descriptor,
                              struct cudaExtent extent, unsigned int flags) {
  return create_array(array, descriptor, extent, flags);
}
cudaError_t cudaFreeArray(cudaArray_t array) {
  return array ? detail::as_runtime(driver().cuArrayDestroy(to_driver(array))) : cudaSuccess;
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc* descriptor, struct cudaExtent* extent, unsigned int* flags,
                             cudaArray_t array) {
  CUDA_ARRAY3D_DESCRIPTOR d;
  CUDA_TRY(driver().cuArray3DGetDescriptor_v2(&d, to_driver(array)));
  if (descriptor) *descriptor = runtime::to_runtime(d.Format, d.NumChannels);
  if (extent) *extent = {d.Width, d.Height, d.Depth};
  if (flags) *flags = d.Flags;
  return cudaSuccess;
}
cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc* descriptor, cudaArray_const_t array) {
  if (!descriptor) return cudaErrorInvalidValue;
  return impl::cudaArrayGetInfo(descriptor, nullptr, nullptr, const_cast<cudaArray_t>(array));
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array, const struct cudaChannelFormatDesc* descriptor,
                                     struct cudaExtent extent, unsigned int levels, unsigned int flags) {
  if (!array || !descriptor) return cudaErrorInvalidValue;
  CUDA_ARRAY3D_DESCRIPTOR d = {};
  d.Width = extent.width;
  d.Height = extent.height;
  d.Depth = extent.depth;
  d.Flags = flags;
  CUDA_TRY(to_driver(*descriptor, &d.Format, &d.NumChannels));
  return detail::as_runtime(driver().cuMipmappedArrayCreate(reinterpret_cast<CUmipmappedArray*>(array), &d, levels));
}
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  return array ? detail::as_runtime(driver().cuMipmappedArrayDestroy(reinterpret_cast<CUmipmappedArray>(array)))
               : cudaSuccess;
}
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* level_array, cudaMipmappedArray_const_t array, unsigned int level) {
  return detail::as_runtime(driver().cuMipmappedArrayGetLevel(
      reinterpret_cast<CUarray*>(level_array),
      reinterpret_cast<CUmipmappedArray>(const_cast<cudaMipmappedArray_t>(array)), level));
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const struct cudaResourceDesc* resource,
                                    const struct cudaTextureDesc* texture, const struct cudaResourceViewDesc* view) {
  if (!object || !resource || !texture) return cudaErrorInvalidValue;
  CUDA_RESOURCE_DESC r;
  CUDA_TRY(to_resource(*resource, &r));
  const CUDA_TEXTURE_DESC t = to_texture(*texture);
  static_assert(sizeof(cudaResourceViewDesc) == sizeof(CUDA_RESOURCE_VIEW_DESC), "passed through as it is");
  return detail::as_runtime(
      driver().cuTexObjectCreate(object, &r, &t, reinterpret_cast<const CUDA_RESOURCE_VIEW_DESC*>(view)));
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  return object ? detail::as_runtime(driver().cuTexObjectDestroy(object)) : cudaSuccess;
}
cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc* resource, cudaTextureObject_t object) {
  if (!resource) return cudaErrorInvalidValue;
  CUDA_RESOURCE_DESC d;
  CUDA_TRY(driver().cuTexObjectGetResourceDesc(&d, object));
  return from_resource(d, resource);
}
cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc* texture, cudaTextureObject_t object) {
  if (!texture) return cudaErrorInvalidValue;
  CUDA_TEXTURE_DESC d;
  CUDA_TRY(driver().cuTexObjectGetTextureDesc(&d, object));
  *texture = from_texture(d);
  return cudaSuccess;
}
cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc* view, cudaTextureObject_t object) {
  return detail::as_runtime(
      driver().cuTexObjectGetResourceViewDesc(reinterpret_cast<CUDA_RESOURCE_VIEW_DESC*>(view), object));
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const struct cudaResourceDesc* resource) {
  if (!object || !resource) return cudaErrorInvalidValue;
  CUDA_RESOURCE_DESC r;
  CUDA_TRY(to_resource(*resource, &r));
  return detail::as_runtime(driver().cuSurfObjectCreate(object, &r));
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return object ? detail::as_runtime(driver().cuSurfObjectDestroy(object)) : cudaSuccess;
}
cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc* resource, cudaSurfaceObject_t object) {
  if (!resource) return cudaErrorInvalidValue;
  CUDA_RESOURCE_DESC d;
  CUDA_TRY(driver().cuSurfObjectGetResourceDesc(&d, object));
  return from_resource(d, resource);
}

}  // namespace impl
}  // namespace heddle::runtime

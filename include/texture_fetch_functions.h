// Texture fetches through texture objects: tex1D, tex2D, tex3D, layered, cubemap, level of detail, gradient, gather.
// clang's __clang_cuda_texture_intrinsics.h turns each (operation, result type) into one PTX tex instruction; here
// are the functions that programs call. The names and meanings are those of the programming guide's "Texture
// Functions". Texture references (before CUDA 12) don't exist.
// Tested by tests/programs/texture.cu.
#ifndef __TEXTURE_FETCH_FUNCTIONS_H__
#define __TEXTURE_FETCH_FUNCTIONS_H__
#if defined(__CUDA__) && defined(__clang__) && defined(__cplusplus) && __cplusplus >= 201103L

#define HEDDLE_UNWRAP(...) __VA_ARGS__
#define HEDDLE_TEX(name, op, parameters, arguments)                                                              \
  template <class T>                                                                                             \
  static __device__ __forceinline__ void name(T* result, cudaTextureObject_t object, HEDDLE_UNWRAP parameters) { \
    __nv_tex_surf_handler(op, result, object, HEDDLE_UNWRAP arguments);                                          \
  }                                                                                                              \
  template <class T>                                                                                             \
  static __device__ __forceinline__ T name(cudaTextureObject_t object, HEDDLE_UNWRAP parameters) {               \
    T result;                                                                                                    \
    name(&result, object, HEDDLE_UNWRAP arguments);                                                              \
    return result;                                                                                               \
  }

HEDDLE_TEX(tex1Dfetch, "__tex1Dfetch_v2", (int x), (x))
HEDDLE_TEX(tex1D, "__tex1D_v2", (float x), (x))
HEDDLE_TEX(tex1DLod, "__tex1DLod_v2", (float x, float level), (x, level))
HEDDLE_TEX(tex1DGrad, "__tex1DGrad_v2", (float x, float dx, float dy), (x, dx, dy))
HEDDLE_TEX(tex1DLayered, "__tex1DLayered_v2", (float x, int layer), (x, layer))
HEDDLE_TEX(tex1DLayeredLod, "__tex1DLayeredLod_v2", (float x, int layer, float level), (x, layer, level))
HEDDLE_TEX(tex1DLayeredGrad, "__tex1DLayeredGrad_v2", (float x, int layer, float dx, float dy), (x, layer, dx, dy))

HEDDLE_TEX(tex2D, "__tex2D_v2", (float x, float y), (x, y))
HEDDLE_TEX(tex2DLod, "__tex2DLod_v2", (float x, float y, float level), (x, y, level))
HEDDLE_TEX(tex2DGrad, "__tex2DGrad_v2", (float x, float y, float2 dx, float2 dy), (x, y, &dx, &dy))
HEDDLE_TEX(tex2DLayered, "__tex2DLayered_v2", (float x, float y, int layer), (x, y, layer))
HEDDLE_TEX(tex2DLayeredLod, "__tex2DLayeredLod_v2", (float x, float y, int layer, float level), (x, y, layer, level))
HEDDLE_TEX(tex2DLayeredGrad, "__tex2DLayeredGrad_v2", (float x, float y, int layer, float2 dx, float2 dy),
           (x, y, layer, &dx, &dy))

HEDDLE_TEX(tex3D, "__tex3D_v2", (float x, float y, float z), (x, y, z))
HEDDLE_TEX(tex3DLod, "__tex3DLod_v2", (float x, float y, float z, float level), (x, y, z, level))
HEDDLE_TEX(tex3DGrad, "__tex3DGrad_v2", (float x, float y, float z, float4 dx, float4 dy), (x, y, z, &dx, &dy))

HEDDLE_TEX(texCubemap, "__texCubemap_v2", (float x, float y, float z), (x, y, z))
HEDDLE_TEX(texCubemapLod, "__texCubemapLod_v2", (float x, float y, float z, float level), (x, y, z, level))
HEDDLE_TEX(texCubemapLayered, "__texCubemapLayered_v2", (float x, float y, float z, int layer), (x, y, z, layer))
HEDDLE_TEX(texCubemapLayeredLod, "__texCubemapLayeredLod_v2", (float x, float y, float z, int layer, float level),
           (x, y, z, layer, level))

// The component that a gather takes from the four texels of a bilinear footprint.
template <class T>
static __device__ __forceinline__ T tex2Dgather(cudaTextureObject_t object, float x, float y, int component = 0) {
  T result;
  __nv_tex_surf_handler("__tex2Dgather_v2", &result, object, x, y, component);
  return result;
}
template <class T>
static __device__ __forceinline__ void tex2Dgather(T* result, cudaTextureObject_t object, float x, float y,
                                                   int component = 0) {
  __nv_tex_surf_handler("__tex2Dgather_v2", result, object, x, y, component);
}

#undef HEDDLE_TEX
#undef HEDDLE_UNWRAP

#include "surface_indirect_functions.h"

#endif
#endif

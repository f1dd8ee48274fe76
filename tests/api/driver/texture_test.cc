// Texture and surface objects, sampled by kernels.
#include "driver.h"

namespace {

const char* const kTextures = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry sample(.param .u64 pt, .param .u64 pout, .param .f32 px, .param .f32 py) {
  .reg .b64 %d<4>; .reg .f32 %f<8>;
  ld.param.u64 %d1, [pt]; ld.param.u64 %d2, [pout]; cvta.to.global.u64 %d3, %d2;
  ld.param.f32 %f1, [px]; ld.param.f32 %f2, [py];
  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d1, {%f1, %f2}];
  st.global.f32 [%d3], %f3;
  ret;
}
.visible .entry fetch(.param .u64 pt, .param .u64 pout) {
  .reg .b64 %d<6>; .reg .b32 %r<8>;
  ld.param.u64 %d1, [pt]; ld.param.u64 %d2, [pout]; cvta.to.global.u64 %d3, %d2;
  mov.u32 %r1, %tid.x;
  tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%d1, {%r1}];
  mul.wide.u32 %d4, %r1, 4; add.s64 %d5, %d3, %d4;
  st.global.u32 [%d5], %r2;
  ret;
}
.visible .entry double_surface(.param .u64 ps) {
  .reg .b64 %d<2>; .reg .b32 %r<6>;
  ld.param.u64 %d1, [ps];
  mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 2; mov.u32 %r2, %tid.y;
  suld.b.2d.b32.trap %r3, [%d1, {%r1, %r2}];
  add.u32 %r4, %r3, %r3;
  sust.b.2d.b32.trap [%d1, {%r1, %r2}], %r4;
  ret;
}
)";

}  // namespace

TEST_F(ContextTest, texture_of_an_array) {
  CUDA_ARRAY_DESCRIPTOR descriptor = {4, 2, CU_AD_FORMAT_FLOAT, 1};
  CUarray array = nullptr;
  CU_OK(drv::cuArrayCreate_v2(&array, &descriptor));
  const float values[8] = {0, 1, 2, 3, 10, 11, 12, 13};
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = values;
  copy.srcPitch = 16;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = 16;
  copy.Height = 2;
  CU_OK(drv::cuMemcpy2D_v2(&copy));
  CUDA_RESOURCE_DESC resource = {};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUfunction sample = function(load(kTextures), "sample");
  CUdeviceptr out = alloc(4);
  const auto at = [&](CUtexObject texture, float x, float y) {
    EXPECT_EQ(launch(sample, 1, 1, {&texture, &out, &x, &y}), CUDA_SUCCESS);
    return read<float>(out, 1)[0];
  };
  CUDA_TEXTURE_DESC description = {};
  for (auto& mode : description.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
  CUtexObject point = 0, linear = 0, wrapped = 0;
  CU_OK(drv::cuTexObjectCreate(&point, &resource, &description, nullptr));
  EXPECT_EQ(at(point, 1.9f, 1.0f), 11.f);
  EXPECT_EQ(at(point, -3.f, 0.f), 0.f);
  description.filterMode = CU_TR_FILTER_MODE_LINEAR;
  CU_OK(drv::cuTexObjectCreate(&linear, &resource, &description, nullptr));
  EXPECT_EQ(at(linear, 2.0f, 1.0f), 6.5f);
  description.flags = CU_TRSF_NORMALIZED_COORDINATES;
  description.filterMode = CU_TR_FILTER_MODE_POINT;
  description.addressMode[0] = CU_TR_ADDRESS_MODE_WRAP;
  CU_OK(drv::cuTexObjectCreate(&wrapped, &resource, &description, nullptr));
  EXPECT_EQ(at(wrapped, 3.3f, 0.f), 1.f);
  CUDA_RESOURCE_DESC back = {};
  CU_OK(drv::cuTexObjectGetResourceDesc(&back, wrapped));
  EXPECT_EQ(back.res.array.hArray, array);
  for (CUtexObject object : {point, linear, wrapped}) {
    CU_OK(drv::cuTexObjectDestroy(object));
  }
  CU_EXPECT(drv::cuTexObjectCreate(nullptr, &resource, &description, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ContextTest, texture_of_linear_memory) {
  CUdeviceptr data = alloc(32 * 4), out = alloc(32 * 4);
  std::vector<unsigned> values(32);
  for (unsigned i = 0; i < 32; ++i) values[i] = i * i;
  CU_OK(drv::cuMemcpyHtoD_v2(data, values.data(), 128));
  CUDA_RESOURCE_DESC resource = {};
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  resource.res.linear.devPtr = data;
  resource.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT32;
  resource.res.linear.numChannels = 1;
  resource.res.linear.sizeInBytes = 128;
  CUDA_TEXTURE_DESC description = {};
  CUtexObject texture = 0;
  CU_OK(drv::cuTexObjectCreate(&texture, &resource, &description, nullptr));
  CU_OK(launch(function(load(kTextures), "fetch"), 1, 32, {&texture, &out}));
  EXPECT_EQ(read<unsigned>(out, 32), values);
  CU_OK(drv::cuTexObjectDestroy(texture));
}

TEST_F(ContextTest, surface) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor = {8, 4, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
  CUarray array = nullptr;
  CU_OK(drv::cuArray3DCreate_v2(&array, &descriptor));
  std::vector<unsigned> values(32), after(32);
  for (unsigned i = 0; i < 32; ++i) values[i] = i;
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = values.data();
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.srcPitch = copy.WidthInBytes = 32;
  copy.Height = 4;
  CU_OK(drv::cuMemcpy2D_v2(&copy));
  CUDA_RESOURCE_DESC resource = {};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUsurfObject object = 0;
  CU_OK(drv::cuSurfObjectCreate(&object, &resource));
  void* arguments[] = {&object};
  CU_OK(drv::cuLaunchKernel(function(load(kTextures), "double_surface"), 1, 1, 1, 8, 4, 1, 0, nullptr, arguments,
                            nullptr));
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = array;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = after.data();
  copy.dstPitch = 32;
  CU_OK(drv::cuMemcpy2D_v2(&copy));
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(after[i], 2 * i);
  CU_OK(drv::cuSurfObjectDestroy(object));
}

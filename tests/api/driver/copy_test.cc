// Copies and fills in one to three dimensions, and arrays.
#include <numeric>

#include "driver.h"

TEST_F(ContextTest, copies_in_all_directions) {
  std::vector<int> from(1000), to(1000);
  std::iota(from.begin(), from.end(), 0);
  const CUdeviceptr a = alloc(4000), b = alloc(4000);
  CU_OK(drv::cuMemcpyHtoD_v2(a, from.data(), 4000));
  CU_OK(drv::cuMemcpyDtoD_v2(b, a, 4000));
  CU_OK(drv::cuMemcpyDtoH_v2(to.data(), b, 4000));
  EXPECT_EQ(from, to);
  to.assign(1000, 0);
  CU_OK(drv::cuMemcpy(reinterpret_cast<CUdeviceptr>(to.data()), a, 4000));  // directions by address
  EXPECT_EQ(from, to);
  CU_EXPECT(drv::cuMemcpyHtoD_v2(a, from.data(), 8000), CUDA_ERROR_INVALID_VALUE);  // past the end
  CU_EXPECT(drv::cuMemcpyHtoD_v2(0, from.data(), 4), CUDA_ERROR_INVALID_VALUE);
  CU_EXPECT(drv::cuMemcpyHtoD_v2(a, nullptr, 4), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ContextTest, fills) {
  const CUdeviceptr p = alloc(4096);
  CU_OK(drv::cuMemsetD8_v2(p, 1, 4096));
  CU_OK(drv::cuMemsetD16_v2(p, 0x203, 4));
  CU_OK(drv::cuMemsetD32_v2(p + 16, 0x04050607, 2));
  CU_OK(drv::cuMemsetD2D8_v2(p + 64, 32, 9, 4, 3));
  const auto bytes = read<unsigned char>(p, 256);
  EXPECT_EQ(bytes[0], 3);
  EXPECT_EQ(bytes[7], 2);
  EXPECT_EQ(bytes[8], 1);
  EXPECT_EQ(bytes[16], 7);
  EXPECT_EQ(bytes[23], 4);
  EXPECT_EQ(bytes[24], 1);
  for (int row = 0; row < 3; ++row) {
    EXPECT_EQ(bytes[64 + 32 * row + 3], 9);
    EXPECT_EQ(bytes[64 + 32 * row + 4], 1);
  }
  CU_EXPECT(drv::cuMemsetD32_v2(p + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
  CU_EXPECT(drv::cuMemsetD8_v2(p, 0, 5000), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ContextTest, two_and_three_dimensions) {
  // A 5 x 4 x 3 box inside a host volume goes to a pitched device volume and back to another place.
  constexpr size_t kW = 16, kH = 8, kD = 4;
  std::vector<unsigned char> from(kW * kH * kD), to(kW * kH * kD, 0);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i * 7 + 1);
  CUdeviceptr p = 0;
  size_t pitch = 0;
  CU_OK(drv::cuMemAllocPitch_v2(&p, &pitch, kW, kH * kD, 4));
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from.data();
  copy.srcPitch = kW;
  copy.srcHeight = kH;
  copy.srcXInBytes = 2;
  copy.srcY = 1;
  copy.srcZ = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = p;
  copy.dstPitch = pitch;
  copy.dstHeight = kH;
  copy.WidthInBytes = 5;
  copy.Height = 4;
  copy.Depth = 3;
  CU_OK(drv::cuMemcpy3D_v2(&copy));
  CUDA_MEMCPY3D back = {};
  back.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  back.srcDevice = p;
  back.srcPitch = pitch;
  back.srcHeight = kH;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = to.data();
  back.dstPitch = kW;
  back.dstHeight = kH;
  back.dstXInBytes = 1;
  back.WidthInBytes = 5;
  back.Height = 4;
  back.Depth = 3;
  CU_OK(drv::cuMemcpy3D_v2(&back));
  for (size_t z = 0; z < 3; ++z)
    for (size_t y = 0; y < 4; ++y)
      for (size_t x = 0; x < 5; ++x)
        EXPECT_EQ(to[(z * kH + y) * kW + x + 1], from[((z + 1) * kH + y + 1) * kW + x + 2]);
  EXPECT_EQ(to[0], 0);
  CUDA_MEMCPY2D bad = {};
  bad.srcMemoryType = CU_MEMORYTYPE_HOST;
  bad.srcHost = from.data();
  bad.srcPitch = 4;  // smaller than a row
  bad.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  bad.dstDevice = p;
  bad.dstPitch = pitch;
  bad.WidthInBytes = 8;
  bad.Height = 2;
  CU_EXPECT(drv::cuMemcpy2D_v2(&bad), CUDA_ERROR_INVALID_VALUE);
  CU_EXPECT(drv::cuMemcpy2D_v2(nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ContextTest, arrays) {
  CUDA_ARRAY_DESCRIPTOR descriptor = {10, 6, CU_AD_FORMAT_FLOAT, 2};
  CUarray array = nullptr;
  CU_OK(drv::cuArrayCreate_v2(&array, &descriptor));
  CUDA_ARRAY_DESCRIPTOR read_back = {};
  CU_OK(drv::cuArrayGetDescriptor_v2(&read_back, array));
  EXPECT_EQ(read_back.Width, 10u);
  EXPECT_EQ(read_back.NumChannels, 2u);
  std::vector<float> from(120), to(120);
  std::iota(from.begin(), from.end(), 0.f);
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from.data();
  copy.srcPitch = 80;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = 80;
  copy.Height = 6;
  CU_OK(drv::cuMemcpy2D_v2(&copy));
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = array;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = to.data();
  copy.dstPitch = 80;
  CU_OK(drv::cuMemcpy2D_v2(&copy));
  EXPECT_EQ(from, to);
  copy.WidthInBytes = 88;
  CU_EXPECT(drv::cuMemcpy2D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
  CU_OK(drv::cuArrayDestroy(array));
  descriptor.NumChannels = 3;
  CU_EXPECT(drv::cuArrayCreate_v2(&array, &descriptor), CUDA_ERROR_INVALID_VALUE);
}

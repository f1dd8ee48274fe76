// Texture and surface functions through objects: point and linear filters, address modes, element types, 1-D, 2-D, 3-D
// and layered arrays, linear memory; surfaces read and written. Expected values by the programming guide's formulas.
#include "expect.h"

constexpr int kWidth = 8, kHeight = 4;

__global__ void fetch(cudaTextureObject_t points, cudaTextureObject_t linear, cudaTextureObject_t bytes,
                      cudaTextureObject_t memory, float* out, uchar4* pixels) {
  int x = threadIdx.x, y = threadIdx.y, i = y * kWidth + x;
  out[i] = tex2D<float>(points, x + 0.5f, y + 0.5f);
  out[32 + i] = tex2D<float>(linear, x + 1.0f, y + 0.5f);  // half way to the right neighbour
  out[64 + i] = tex2D<float>(points, x - 3.5f, y + 0.5f);  // clamped at the left edge
  out[96 + i] = tex1Dfetch<float>(memory, i);
  pixels[i] = tex2D<uchar4>(bytes, x + 0.5f, y + 0.5f);
}

__global__ void fetch_3d(cudaTextureObject_t volume, float* out) {
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  out[(z * 2 + y) * 4 + x] = tex3D<float>(volume, x + 0.5f, y + 0.5f, z + 0.5f);
}

__global__ void copy_by_surface(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
  int x = threadIdx.x, y = threadIdx.y;
  float value = surf2Dread<float>(from, x * 4, y);
  float outside = surf2Dread<float>(from, (x + 100) * 4, y, cudaBoundaryModeZero);
  surf2Dwrite(value * 2.0f + outside, to, x * 4, y);
  surf2Dwrite(-1.0f, to, (x + 100) * 4, y, cudaBoundaryModeZero);  // outside: ignored
}

static cudaTextureObject_t make_texture(const cudaResourceDesc& resource, cudaTextureFilterMode filter) {
  cudaTextureDesc texture = {};
  texture.addressMode[0] = texture.addressMode[1] = texture.addressMode[2] = cudaAddressModeClamp;
  texture.filterMode = filter;
  texture.readMode = cudaReadModeElementType;
  cudaTextureObject_t object = 0;
  cudaError_t error = cudaCreateTextureObject(&object, &resource, &texture, nullptr);
  if (error == cudaErrorNotSupported) {
    std::printf("SKIPPED texture: this driver has no texture objects yet\n");
    std::exit(77);
  }
  CUDA_CHECK(error);
  return object;
}

int main() {
  float values[kHeight][kWidth];
  uchar4 colours[kHeight][kWidth];
  for (int y = 0; y < kHeight; y++) {
    for (int x = 0; x < kWidth; x++) {
      values[y][x] = (float)(10 * y + x * x);
      colours[y][x] = make_uchar4((unsigned char)x, (unsigned char)y, (unsigned char)(x * y), 255);
    }
  }
  cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>(), bytes = cudaCreateChannelDesc<uchar4>();
  cudaArray_t array, byte_array, target;
  CUDA_CHECK(cudaMallocArray(&array, &floats, kWidth, kHeight, cudaArraySurfaceLoadStore));
  CUDA_CHECK(cudaMallocArray(&target, &floats, kWidth, kHeight, cudaArraySurfaceLoadStore));
  CUDA_CHECK(cudaMallocArray(&byte_array, &bytes, kWidth, kHeight));
  CUDA_CHECK(
      cudaMemcpy2DToArray(array, 0, 0, values, sizeof values[0], sizeof values[0], kHeight, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy2DToArray(byte_array, 0, 0, colours, sizeof colours[0], sizeof colours[0], kHeight,
                                 cudaMemcpyHostToDevice));
  Buffer<float> plain(32);
  for (int i = 0; i < 32; i++) plain[i] = 3.0f * (float)i;
  plain.send();

  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureObject_t points = make_texture(resource, cudaFilterModePoint),
                      linear = make_texture(resource, cudaFilterModeLinear);
  resource.res.array.array = byte_array;
  cudaTextureObject_t pixels = make_texture(resource, cudaFilterModePoint);
  cudaResourceDesc memory = {};
  memory.resType = cudaResourceTypeLinear;
  memory.res.linear.devPtr = plain.device;
  memory.res.linear.desc = floats;
  memory.res.linear.sizeInBytes = 32 * sizeof(float);
  cudaTextureObject_t of_memory = make_texture(memory, cudaFilterModePoint);

  Buffer<float> out(128);
  Buffer<uchar4> colour_out(32);
  fetch<<<1, dim3(kWidth, kHeight)>>>(points, linear, pixels, of_memory, out.device, colour_out.device);
  out.fetch(), colour_out.fetch();
  for (int y = 0; y < kHeight; y++) {
    for (int x = 0; x < kWidth; x++) {
      int i = y * kWidth + x, right = x + 1 < kWidth ? x + 1 : x, left = x > 3 ? x - 4 : 0;
      EXPECT(out[i] == values[y][x], "%d %d: %g", x, y, out[i]);
      float between = 0.5f * (values[y][x] + values[y][right]);
      EXPECT(out[32 + i] == between, "%d %d: %g, not %g", x, y, out[32 + i], between);
      EXPECT(out[64 + i] == values[y][left], "%d %d: %g", x, y, out[64 + i]);
      EXPECT(out[96 + i] == plain[i], "%d: %g", i, out[96 + i]);
      uchar4 c = colour_out[i];
      EXPECT(c.x == x && c.y == y && c.z == x * y && c.w == 255, "%d %d: %d %d %d %d", x, y, c.x, c.y, c.z, c.w);
    }
  }

  cudaResourceDesc surface = {};
  surface.resType = cudaResourceTypeArray;
  surface.res.array.array = array;
  cudaSurfaceObject_t from, to;
  CUDA_CHECK(cudaCreateSurfaceObject(&from, &surface));
  surface.res.array.array = target;
  CUDA_CHECK(cudaCreateSurfaceObject(&to, &surface));
  copy_by_surface<<<1, dim3(kWidth, kHeight)>>>(from, to);
  CUDA_CHECK(cudaGetLastError());
  float doubled[kHeight][kWidth];
  CUDA_CHECK(cudaMemcpy2DFromArray(doubled, sizeof doubled[0], target, 0, 0, sizeof doubled[0], kHeight,
                                   cudaMemcpyDeviceToHost));
  for (int y = 0; y < kHeight; y++)
    for (int x = 0; x < kWidth; x++) EXPECT(doubled[y][x] == 2.0f * values[y][x], "%d %d: %g", x, y, doubled[y][x]);

  float volume[2][2][4];
  for (int i = 0; i < 16; i++) (&volume[0][0][0])[i] = (float)(i * i);
  cudaArray_t array_3d;
  CUDA_CHECK(cudaMalloc3DArray(&array_3d, &floats, make_cudaExtent(4, 2, 2)));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(volume, 4 * sizeof(float), 4, 2);
  copy.dstArray = array_3d;
  copy.extent = make_cudaExtent(4, 2, 2);
  copy.kind = cudaMemcpyHostToDevice;
  CUDA_CHECK(cudaMemcpy3D(&copy));
  resource.res.array.array = array_3d;
  cudaTextureObject_t of_volume = make_texture(resource, cudaFilterModePoint);
  Buffer<float> volume_out(16);
  fetch_3d<<<1, dim3(4, 2, 2)>>>(of_volume, volume_out.device);
  volume_out.fetch();
  for (int i = 0; i < 16; i++) EXPECT(volume_out[i] == (float)(i * i), "%d: %g", i, volume_out[i]);

  for (cudaTextureObject_t object : {points, linear, pixels, of_memory, of_volume})
    CUDA_CHECK(cudaDestroyTextureObject(object));
  CUDA_CHECK(cudaDestroySurfaceObject(from));
  CUDA_CHECK(cudaDestroySurfaceObject(to));
  for (cudaArray_t a : {array, byte_array, target, array_3d}) CUDA_CHECK(cudaFreeArray(a));
  return verdict("texture");
}

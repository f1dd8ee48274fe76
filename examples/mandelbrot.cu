// The Mandelbrot set as a PNG. Neighbouring threads leave the loop at different times: a picture of divergence.
//   heddle c++ mandelbrot.cu -o mandelbrot -lpng && heddle run ./mandelbrot [file.png [width height]]
#include "common/check.h"
#include "common/png_image.h"

constexpr int kMaximum = 256;

__host__ __device__ int escape_time(float cx, float cy) {
  float x = 0.0f, y = 0.0f;
  int steps = 0;
  while (steps < kMaximum && x * x + y * y < 4.0f) {
    float next = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = next;
    steps++;
  }
  return steps;
}

__global__ void draw(unsigned char* pixels, int width, int height) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  float scale = 3.0f / static_cast<float>(width);
  int steps = escape_time(-2.2f + scale * static_cast<float>(column), scale * static_cast<float>(row - height / 2));
  unsigned char* pixel = pixels + 3 * (static_cast<size_t>(row) * width + column);
  float t = static_cast<float>(steps) / kMaximum;
  bool inside = steps == kMaximum;
  // A smooth ramp through blue, white and orange; the set itself is black.
  pixel[0] = inside ? 0 : static_cast<unsigned char>(255.0f * 9.0f * (1.0f - t) * t * t * t + 60.0f * t);
  pixel[1] = inside ? 0 : static_cast<unsigned char>(255.0f * 15.0f * (1.0f - t) * (1.0f - t) * t * t);
  pixel[2] = inside ? 0 : static_cast<unsigned char>(255.0f * 8.5f * (1.0f - t) * (1.0f - t) * (1.0f - t) * t);
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "mandelbrot.png";
  Picture picture;
  picture.width = argc > 3 ? std::atoi(argv[2]) : 1200;
  picture.height = argc > 3 ? std::atoi(argv[3]) : 800;
  if (picture.width < 1 || picture.height < 1) return finish(false, "mandelbrot: width and height must be positive");
  picture.bytes.resize(static_cast<size_t>(picture.width) * picture.height * 3);

  unsigned char* device_pixels;
  CUDA_CHECK(cudaMalloc(&device_pixels, picture.bytes.size()));
  dim3 threads(32, 8), blocks((picture.width + 31) / 32, (picture.height + 7) / 8);
  draw<<<blocks, threads>>>(device_pixels, picture.width, picture.height);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaMemcpy(picture.bytes.data(), device_pixels, picture.bytes.size(), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(device_pixels));
  if (!write_png(path, picture)) return finish(false, "mandelbrot");
  std::printf("%s: %d x %d\n", path, picture.width, picture.height);

  // The host may round differently (it need not fuse multiply and add), which moves single pixels at the edge of the
  // set; the pixels that are black on both sides must agree almost everywhere.
  long differences = 0, total = static_cast<long>(picture.width) * picture.height;
  float scale = 3.0f / static_cast<float>(picture.width);
  for (int row = 0; row < picture.height; row++) {
    for (int column = 0; column < picture.width; column++) {
      int steps =
          escape_time(-2.2f + scale * static_cast<float>(column), scale * static_cast<float>(row - picture.height / 2));
      const unsigned char* pixel = &picture.bytes[3 * (static_cast<size_t>(row) * picture.width + column)];
      bool black = pixel[0] == 0 && pixel[1] == 0 && pixel[2] == 0;
      differences += steps == kMaximum && !black;
      differences += steps > 8 && steps < kMaximum / 2 && black;
    }
  }
  std::printf("%ld of %ld pixels differ from the host's\n", differences, total);
  return finish(differences * 1000 <= total, "mandelbrot");
}

// A Gaussian blur of a PNG, in two passes (rows, then columns); the weights are in constant memory, which all threads
// of a warp read at the same place.
//   heddle c++ blur.cu -o blur -lpng && heddle run ./blur [in.png [out.png [radius]]]
// Without a picture it blurs a drawing of its own.
#include <cmath>
#include <cstring>

#include "common/check.h"
#include "common/png_image.h"

constexpr int kLargestRadius = 32;
__constant__ float weights[2 * kLargestRadius + 1];

// Along one axis; `step` is the distance between neighbours in bytes, `last` the last index on the axis.
__device__ float blurred(const unsigned char* line, int position, int last, size_t step, int radius) {
  float sum = 0.0f;
  for (int i = -radius; i <= radius; i++) {
    int at = min(max(position + i, 0), last);  // the edge pixel goes on outside
    sum += weights[i + radius] * static_cast<float>(line[at * step]);
  }
  return sum;
}

__global__ void blur_rows(const unsigned char* in, unsigned char* out, int width, int height, int radius) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  for (int channel = 0; channel < 3; channel++) {
    const unsigned char* line = in + static_cast<size_t>(row) * width * 3 + channel;
    out[(static_cast<size_t>(row) * width + column) * 3 + channel] =
        static_cast<unsigned char>(blurred(line, column, width - 1, 3, radius) + 0.5f);
  }
}

__global__ void blur_columns(const unsigned char* in, unsigned char* out, int width, int height, int radius) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  for (int channel = 0; channel < 3; channel++) {
    const unsigned char* line = in + static_cast<size_t>(column) * 3 + channel;
    out[(static_cast<size_t>(row) * width + column) * 3 + channel] =
        static_cast<unsigned char>(blurred(line, row, height - 1, static_cast<size_t>(width) * 3, radius) + 0.5f);
  }
}

static Picture draw_rings(int width, int height) {
  Picture picture{width, height, 3, std::vector<unsigned char>(static_cast<size_t>(width) * height * 3)};
  for (int row = 0; row < height; row++) {
    for (int column = 0; column < width; column++) {
      unsigned char* pixel = &picture.bytes[3 * (static_cast<size_t>(row) * width + column)];
      int ring = static_cast<int>(std::hypot(column - width / 2, row - height / 2)) / 12;
      pixel[0] = ring % 2 ? 230 : 20;
      pixel[1] = static_cast<unsigned char>(255 * row / height);
      pixel[2] = (column / 24 + row / 24) % 2 ? 200 : 60;
    }
  }
  return picture;
}

static std::vector<float> gaussian(int radius) {
  std::vector<float> result(2 * radius + 1);
  float sum = 0.0f, sigma = 0.5f * static_cast<float>(radius);
  for (int i = -radius; i <= radius; i++) sum += result[i + radius] = std::exp(-0.5f * i * i / (sigma * sigma));
  for (float& weight : result) weight /= sum;
  return result;
}

// The same on the host, one pass along an axis.
static void blur_on_host(const std::vector<unsigned char>& in, std::vector<unsigned char>& out, int width, int height,
                         bool rows, const std::vector<float>& weight) {
  int radius = static_cast<int>(weight.size()) / 2;
  for (int row = 0; row < height; row++) {
    for (int column = 0; column < width; column++) {
      for (int channel = 0; channel < 3; channel++) {
        float sum = 0.0f;
        for (int i = -radius; i <= radius; i++) {
          int x = rows ? std::min(std::max(column + i, 0), width - 1) : column;
          int y = rows ? row : std::min(std::max(row + i, 0), height - 1);
          sum += weight[i + radius] * in[(static_cast<size_t>(y) * width + x) * 3 + channel];
        }
        out[(static_cast<size_t>(row) * width + column) * 3 + channel] = static_cast<unsigned char>(sum + 0.5f);
      }
    }
  }
}

int main(int argc, char** argv) {
  Picture picture;
  if (argc > 1) {
    if (!read_png(argv[1], &picture)) return finish(false, "blur");
  } else {
    picture = draw_rings(640, 400);
  }
  const char* out_path = argc > 2 ? argv[2] : "blur.png";
  int radius = argc > 3 ? std::atoi(argv[3]) : 6;
  if (radius < 1 || radius > kLargestRadius) return finish(false, "blur: the radius must be 1 to 32");
  std::vector<float> weight = gaussian(radius);
  int width = picture.width, height = picture.height;
  size_t bytes = picture.bytes.size();

  unsigned char *first, *second;
  CUDA_CHECK(cudaMalloc(&first, bytes));
  CUDA_CHECK(cudaMalloc(&second, bytes));
  CUDA_CHECK(cudaMemcpyToSymbol(weights, weight.data(), weight.size() * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(first, picture.bytes.data(), bytes, cudaMemcpyHostToDevice));
  dim3 threads(32, 8), blocks((width + 31) / 32, (height + 7) / 8);
  blur_rows<<<blocks, threads>>>(first, second, width, height, radius);
  blur_columns<<<blocks, threads>>>(second, first, width, height, radius);
  CUDA_CHECK(cudaGetLastError());
  Picture result = picture;
  CUDA_CHECK(cudaMemcpy(result.bytes.data(), first, bytes, cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(first));
  CUDA_CHECK(cudaFree(second));
  if (!write_png(out_path, result)) return finish(false, "blur");
  std::printf("%s: %d x %d, radius %d\n", out_path, width, height, radius);

  std::vector<unsigned char> middle(bytes), expected(bytes);
  blur_on_host(picture.bytes, middle, width, height, true, weight);
  blur_on_host(middle, expected, width, height, false, weight);
  int largest = 0;
  for (size_t i = 0; i < bytes; i++) largest = std::max(largest, std::abs(result.bytes[i] - expected[i]));
  std::printf("largest difference from the host's result: %d of 255\n", largest);
  return finish(largest <= 1, "blur");  // the order of rounding may differ by one step
}

// The OpenCL form, for PoCL. The same kernels; the reduction is a tree in local memory, since OpenCL 1.2 has no
// shuffle.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstdio>
#include <cstdlib>

#include "bench.h"

namespace bench {
namespace {

constexpr const char* kSource = R"(
kernel void saxpy(int n, float a, global const float* x, global const float* y, global float* out) {
  int i = get_global_id(0);
  if (i < n) out[i] = a * x[i] + y[i];
}
kernel void sgemm(int n, global const float* a, global const float* b, global float* c) {
  local float as[16][16], bs[16][16];
  int tx = get_local_id(0), ty = get_local_id(1), row = get_global_id(1), column = get_global_id(0);
  float sum = 0;
  for (int t = 0; t < n; t += 16) {
    as[ty][tx] = a[row * n + t + tx];
    bs[ty][tx] = b[(t + ty) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; ++k) sum += as[ty][k] * bs[k][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
kernel void reduce(int n, global const float* in, global float* partial) {
  local float sums[256];
  int t = get_local_id(0);
  float sum = 0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) sum += in[i];
  sums[t] = sum;
  for (int d = 128; d > 0; d /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < d) sums[t] += sums[t + d];
  }
  if (t == 0) partial[get_group_id(0)] = sums[0];
}
kernel void mandelbrot(int width, int height, int limit, global float* out) {
  int px = get_global_id(0), py = get_global_id(1);
  if (px >= width || py >= height) return;
  float cx = -2.0f + px * (3.0f / width), cy = -1.0f + py * (2.0f / height), zx = 0, zy = 0;
  int n = 0;
  while (n < limit && zx * zx + zy * zy < 4.0f) {
    float t = zx * zx - zy * zy + cx;
    zy = 2.0f * zx * zy + cy;
    zx = t;
    ++n;
  }
  out[py * width + px] = n;
}
kernel void blur(int size, global const float* in, global float* out) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= size || y >= size) return;
  float sum = 0;
  for (int dy = -2; dy <= 2; ++dy)
    for (int dx = -2; dx <= 2; ++dx) {
      int sx = min(max(x + dx, 0), size - 1), sy = min(max(y + dy, 0), size - 1);
      sum += in[sy * size + sx];
    }
  out[y * size + x] = sum / 25.0f;
}
float normal_cdf(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
  float c = 0.39894228f * native_exp(-0.5f * d * d) *
            (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - c : c;
}
kernel void black_scholes(int n, global const float* spot, global const float* strike, global const float* years, global float* call) {
  int i = get_global_id(0);
  if (i >= n) return;
  float s = spot[i], k = strike[i], t = years[i], root = sqrt(t);
  float d1 = (native_log(s / k) + (0.02f + 0.5f * 0.3f * 0.3f) * t) / (0.3f * root);
  float d2 = d1 - 0.3f * root;
  call[i] = s * normal_cdf(d1) - k * native_exp(-0.02f * t) * normal_cdf(d2);
}
)";

void check(cl_int error, const char* what) {
  if (error == CL_SUCCESS) return;
  std::fprintf(stderr, "OpenCL: %s: error %d\n", what, error);
  std::exit(1);
}

class Cl {
 public:
  /// False, with a line that says why, if there is no OpenCL device.
  bool open() {
    cl_platform_id platform;
    cl_uint count = 0;
    if (clGetPlatformIDs(1, &platform, &count) != CL_SUCCESS || count == 0 ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device_, nullptr) != CL_SUCCESS) {
      std::printf("no OpenCL device: PoCL is left out (Debian: pocl-opencl-icd)\n");
      return false;
    }
    cl_int error;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &error);
    check(error, "clCreateContext");
    queue_ = clCreateCommandQueue(context_, device_, 0, &error);
    check(error, "clCreateCommandQueue");
    const char* source = kSource;
    program_ = clCreateProgramWithSource(context_, 1, &source, nullptr, &error);
    check(error, "clCreateProgramWithSource");
    check(clBuildProgram(program_, 1, &device_, "-cl-fast-relaxed-math", nullptr, nullptr), "clBuildProgram");
    return true;
  }
  cl_kernel kernel(const char* name) {
    cl_int error;
    cl_kernel k = clCreateKernel(program_, name, &error);
    check(error, name);
    return k;
  }
  cl_mem upload(const std::vector<float>& values) {
    cl_int error;
    cl_mem m = clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, values.size() * 4,
                              const_cast<float*>(values.data()), &error);
    check(error, "clCreateBuffer");
    return m;
  }
  std::vector<float> download(cl_mem m, std::size_t count) {
    std::vector<float> values(count);
    check(clEnqueueReadBuffer(queue_, m, CL_TRUE, 0, count * 4, values.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    return values;
  }
  void run(cl_kernel kernel, unsigned dimensions, const std::size_t* global, const std::size_t* local) {
    check(clEnqueueNDRangeKernel(queue_, kernel, dimensions, nullptr, global, local, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    check(clFinish(queue_), "clFinish");
  }

 private:
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
};

template <class... A>
void set_arguments(cl_kernel kernel, const A&... arguments) {
  cl_uint index = 0;
  (check(clSetKernelArg(kernel, index++, sizeof(A), &arguments), "clSetKernelArg"), ...);
}

}  // namespace

std::vector<Case> opencl_cases(const Problem& p) {
  using P = Problem;
  auto cl = std::make_shared<Cl>();
  if (!cl->open()) return {};
  std::vector<Case> cases;
  auto add = [&](const char* name, cl_kernel kernel, std::vector<std::size_t> global, std::vector<std::size_t> local,
                 cl_mem out, std::size_t count, bool sum = false) {
    cases.push_back({name, [=] { cl->run(kernel, static_cast<unsigned>(global.size()), global.data(), local.data()); },
                     [=] {
                       std::vector<float> values = cl->download(out, count);
                       if (!sum) return values;
                       float total = 0;
                       for (float v : values) total += v;
                       return std::vector<float>{total};
                     }});
  };
  {
    cl_kernel k = cl->kernel("saxpy");
    cl_mem out = cl->upload(p.x);
    set_arguments(k, P::kSaxpy, 2.5f, cl->upload(p.x), cl->upload(p.y), out);
    add("saxpy", k, {P::kSaxpy}, {256}, out, P::kSaxpy);
  }
  {
    cl_kernel k = cl->kernel("sgemm");
    cl_mem c = cl->upload(p.a);
    set_arguments(k, P::kMatrix, cl->upload(p.a), cl->upload(p.b), c);
    add("sgemm", k, {P::kMatrix, P::kMatrix}, {16, 16}, c, P::kMatrix * P::kMatrix);
  }
  {
    cl_kernel k = cl->kernel("reduce");
    cl_mem partial = cl->upload(std::vector<float>(64));
    set_arguments(k, P::kReduce, cl->upload(p.reduce_in), partial);
    add("reduce", k, {64 * 256}, {256}, partial, 64, true);
  }
  {
    cl_kernel k = cl->kernel("mandelbrot");
    cl_mem out = cl->upload(std::vector<float>(P::kMandelWidth * P::kMandelHeight));
    set_arguments(k, P::kMandelWidth, P::kMandelHeight, P::kMandelIterations, out);
    add("mandelbrot", k, {P::kMandelWidth, P::kMandelHeight}, {32, 8}, out, P::kMandelWidth * P::kMandelHeight);
  }
  {
    cl_kernel k = cl->kernel("blur");
    cl_mem out = cl->upload(p.image);
    set_arguments(k, P::kBlur, cl->upload(p.image), out);
    add("blur", k, {P::kBlur, P::kBlur}, {16, 16}, out, P::kBlur * P::kBlur);
  }
  {
    cl_kernel k = cl->kernel("black_scholes");
    cl_mem call = cl->upload(p.spot);
    set_arguments(k, P::kOptions, cl->upload(p.spot), cl->upload(p.strike), cl->upload(p.years), call);
    add("black-scholes", k, {P::kOptions}, {256}, call, P::kOptions);
  }
  return cases;
}

}  // namespace bench

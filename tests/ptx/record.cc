// Runs the files of this folder on whatever libcuda.so.1 is there and writes what came out into them: the right values
// of the tests, recorded on a real GPU. Stands alone: only the public driver API, loaded by name.
//
//   g++ -std=c++17 -O1 -I include tests/ptx/record.cc -o record -ldl && ./record tests/ptx/*.ptx
//
// `./record --check FILES` writes nothing and compares instead, which is how the same files judge a driver.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>

#include "ptx_file.h"

namespace {

using ptx_file::Buffer;
using ptx_file::File;

void* g_driver = nullptr;

template <class F>
F* entry(const char* name) {
  void* at = dlsym(g_driver, name);
  if (!at) {
    std::fprintf(stderr, "record: libcuda.so.1 has no %s\n", name);
    std::exit(1);
  }
  return reinterpret_cast<F*>(at);
}

using GetErrorName = CUresult(CUresult, const char**);
using DeviceGet = CUresult(CUdevice*, int);
using DeviceGetName = CUresult(char*, int, CUdevice);
using ContextRetain = CUresult(CUcontext*, CUdevice);
using ContextRelease = CUresult(CUdevice);
using ContextSet = CUresult(CUcontext);
using Synchronize = CUresult();
using LoadData = CUresult(CUmodule*, const void*, unsigned, CUjit_option*, void**);
using Unload = CUresult(CUmodule);
using GetFunction = CUresult(CUfunction*, CUmodule, const char*);
using MemAlloc = CUresult(CUdeviceptr*, size_t);
using MemFree = CUresult(CUdeviceptr);
using CopyIn = CUresult(CUdeviceptr, const void*, size_t);
using CopyOut = CUresult(void*, CUdeviceptr, size_t);
using Launch = CUresult(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void**, void**);

std::string error_name(CUresult code) {
  const char* name = nullptr;
  entry<GetErrorName>("cuGetErrorName")(code, &name);
  return name ? name : std::to_string(static_cast<int>(code));
}

/// Runs the file; outputs[i] are the values of buffers[i]. Returns an error message, or "".
std::string run(const File& file, std::vector<std::vector<std::uint64_t>>& outputs) {
  char log[8192] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* option_values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module = nullptr;
  CUresult code = entry<LoadData>("cuModuleLoadDataEx")(&module, file.text.c_str(), 2, options, option_values);
  if (code != CUDA_SUCCESS) return "cuModuleLoadDataEx: " + error_name(code) + "\n" + log;
  CUfunction function = nullptr;
  code = entry<GetFunction>("cuModuleGetFunction")(&function, module, file.kernel.c_str());
  if (code != CUDA_SUCCESS) return "cuModuleGetFunction: " + error_name(code);
  std::vector<CUdeviceptr> memory(file.buffers.size(), 0);
  std::vector<void*> parameters;
  for (size_t i = 0; i < file.buffers.size(); ++i) {
    const Buffer& buffer = file.buffers[i];
    if (buffer.kind == Buffer::Kind::kScalar) {
      parameters.push_back(const_cast<std::uint64_t*>(&buffer.values[0]));
      continue;
    }
    const std::vector<unsigned char> bytes = ptx_file::bytes_of(buffer);
    code = entry<MemAlloc>("cuMemAlloc_v2")(&memory[i], bytes.size());
    if (code == CUDA_SUCCESS) code = entry<CopyIn>("cuMemcpyHtoD_v2")(memory[i], bytes.data(), bytes.size());
    if (code != CUDA_SUCCESS) return "memory: " + error_name(code);
    parameters.push_back(&memory[i]);
  }
  code = entry<Launch>(file.cooperative ? "cuLaunchCooperativeKernel" : "cuLaunchKernel")(
      function, file.grid[0], file.grid[1], file.grid[2], file.block[0], file.block[1], file.block[2], file.shared,
      nullptr, parameters.data(), nullptr);
  if (code == CUDA_SUCCESS) code = entry<Synchronize>("cuCtxSynchronize")();
  if (code != CUDA_SUCCESS) return "launch: " + error_name(code);
  outputs.assign(file.buffers.size(), {});
  for (size_t i = 0; i < file.buffers.size(); ++i) {
    const Buffer& buffer = file.buffers[i];
    if (buffer.is_output()) {
      const size_t size = ptx_file::size_of(buffer.type);
      std::vector<unsigned char> bytes(size * buffer.count);
      code = entry<CopyOut>("cuMemcpyDtoH_v2")(bytes.data(), memory[i], bytes.size());
      if (code != CUDA_SUCCESS) return "copy: " + error_name(code);
      for (size_t k = 0; k < buffer.count; ++k) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &bytes[k * size], size);
        outputs[i].push_back(bits);
      }
    }
    if (memory[i]) entry<MemFree>("cuMemFree_v2")(memory[i]);
  }
  entry<Unload>("cuModuleUnload")(module);
  return "";
}

/// The text without earlier wanted values, and with the new ones in front of the PTX.
std::string with_values(const File& file, const std::vector<std::vector<std::uint64_t>>& outputs,
                        const std::string& source) {
  std::string head, body;
  std::stringstream lines(file.text);
  std::string line;
  bool in_head = true, in_want = false;
  while (std::getline(lines, line)) {
    if (line.rfind("//", 0) != 0) in_head = false;
    if (!in_head) {
      body += line + "\n";
      continue;
    }
    if (line.rfind("//   ", 0) != 0) in_want = line.rfind("// want ", 0) == 0 || line.rfind("// values:", 0) == 0;
    if (!in_want) head += line + "\n";
  }
  std::string text = head + "// values: recorded: " + source + "\n";
  for (size_t i = 0; i < file.buffers.size(); ++i) {
    const Buffer& buffer = file.buffers[i];
    if (!buffer.is_output()) continue;
    text += "// want " + buffer.name + ":";
    const size_t per_line = 128 / (ptx_file::size_of(buffer.type) * 2 + 1);
    for (size_t k = 0; k < outputs[i].size(); ++k)
      text += (k % per_line == 0 ? "\n//   " : " ") + ptx_file::hex(buffer.type, outputs[i][k]);
    text += "\n";
  }
  return text + body;
}

}  // namespace

int main(int argc, char** argv) {
  g_driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!g_driver) {
    std::fprintf(stderr, "record: %s\n", dlerror());
    return 1;
  }
  CUresult code = entry<CUresult(unsigned)>("cuInit")(0);
  CUdevice device = 0;
  CUcontext context = nullptr;
  if (code == CUDA_SUCCESS) code = entry<DeviceGet>("cuDeviceGet")(&device, 0);
  char name[256] = "unknown device";
  if (code == CUDA_SUCCESS) code = entry<DeviceGetName>("cuDeviceGetName")(name, sizeof name, device);
  if (code == CUDA_SUCCESS) code = entry<ContextRetain>("cuDevicePrimaryCtxRetain")(&context, device);
  if (code == CUDA_SUCCESS) code = entry<ContextSet>("cuCtxSetCurrent")(context);
  if (code != CUDA_SUCCESS) {
    std::fprintf(stderr, "record: no device: %s\n", error_name(code).c_str());
    return 1;
  }
  // The driver's own version is only in its module's file; --driver tells it where the caller knows it.
  std::string driver;
  std::ifstream version("/sys/module/nvidia/version");
  std::getline(version, driver);
  bool check = false;
  int failures = 0, files = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--check") {
      check = true;
      continue;
    }
    if (argument.rfind("--driver=", 0) == 0) {
      driver = argument.substr(9);
      continue;
    }
    ++files;
    const File file = ptx_file::parse(argument);
    std::vector<std::vector<std::uint64_t>> outputs;
    const std::string error = file.error.empty() ? run(file, outputs) : file.error;
    if (!error.empty()) {
      std::printf("FAILED %s: %s\n", argument.c_str(), error.c_str());
      ++failures;
      if (error.rfind("launch", 0) == 0) return 1;  // the context is lost
      continue;
    }
    if (!check) {
      std::ofstream(argument) << with_values(file, outputs,
                                             std::string(name) + ", driver " + (driver.empty() ? "unknown" : driver));
      continue;
    }
    for (size_t b = 0; b < file.buffers.size(); ++b) {
      const Buffer& buffer = file.buffers[b];
      for (size_t k = 0; k < buffer.want.size(); ++k) {
        if (ptx_file::equal(buffer, buffer.want[k], outputs[b][k])) continue;
        std::printf("DIFFERS %s: %s[%zu] wanted %s, have %s\n", argument.c_str(), buffer.name.c_str(), k,
                    ptx_file::hex(buffer.type, buffer.want[k]).c_str(),
                    ptx_file::hex(buffer.type, outputs[b][k]).c_str());
        ++failures;
        break;
      }
    }
  }
  std::printf("%s: %d files, %d failures\n", name, files, failures);
  entry<ContextRelease>("cuDevicePrimaryCtxRelease_v2")(device);
  return failures != 0;
}

// What a traced call looks like.
#include "api/trace.h"

#include <gtest/gtest.h>

#include <array>

#include "api/describe.h"

namespace heddle::api {
namespace {

template <class... T>
std::string printed(const Entry& entry, const T&... values) {
  const std::array<Argument, sizeof...(T)> arguments{describe_argument(values)...};
  return print_call(entry, arguments);
}

TEST(Trace, prints_arguments_by_name_and_kind) {
  const Entry alloc{"cuMemAllocPitch", "(CUdeviceptr* pointer, size_t* pitch, size_t width, int priority)",
                    Needs::kContext};
  CUdeviceptr* pointer = reinterpret_cast<CUdeviceptr*>(0x1000);
  size_t* pitch = nullptr;
  EXPECT_EQ(printed(alloc, pointer, pitch, size_t(5000000000), -2),
            "cuMemAllocPitch(pointer=0x1000, pitch=null, width=5000000000, priority=-2)");

  const Entry launch{"cudaLaunchKernel", "(const void* function, dim3 grid, enum cudaMemcpyKind kind, float value)",
                     Needs::kContext};
  const void* function = nullptr;
  EXPECT_EQ(printed(launch, function, dim3(2, 3), cudaMemcpyDeviceToHost, 0.5f),
            "cudaLaunchKernel(function=null, grid=(2, 3, 1), kind=2, value=0.5)");

  const Entry none{"cuCtxSynchronize", "(void)", Needs::kContext};
  EXPECT_EQ(printed(none), "cuCtxSynchronize()");
}

TEST(Trace, reads_strings_only_where_the_name_says_so) {
  const Entry find{"cuModuleGetFunction", "(const char* name, const char* stub)", Needs::kInit};
  const char* name = "kernel";
  const char* stub = reinterpret_cast<const char*>(0x10);  // would crash if it were read
  EXPECT_EQ(printed(find, name, stub), "cuModuleGetFunction(name=\"kernel\", stub=0x10)");
}

}  // namespace
}  // namespace heddle::api

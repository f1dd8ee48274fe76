// Names and texts as programs and test suites know them (NVIDIA's manual), and the table against base's error codes.
#include "api/describe.h"

#include <gtest/gtest.h>

#include "base/error_code.h"

namespace heddle::api {
namespace {

TEST(Describe, names_are_the_enumerators) {
  EXPECT_STREQ(driver_error_name(CUDA_ERROR_INVALID_VALUE), "CUDA_ERROR_INVALID_VALUE");
  EXPECT_STREQ(runtime_error_name(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(device_attribute_name(CU_DEVICE_ATTRIBUTE_WARP_SIZE), "CU_DEVICE_ATTRIBUTE_WARP_SIZE");
}

TEST(Describe, texts_that_programs_compare_with) {
  EXPECT_STREQ(runtime_error_text(cudaSuccess), "no error");
  EXPECT_STREQ(runtime_error_text(cudaErrorInvalidValue), "invalid argument");
  EXPECT_STREQ(driver_error_text(CUDA_ERROR_OUT_OF_MEMORY), "out of memory");
  EXPECT_STREQ(runtime_error_text(cudaErrorNoDevice), "no CUDA-capable device is detected");
  EXPECT_STREQ(runtime_error_text(cudaErrorIllegalAddress), "an illegal memory access was encountered");
}

TEST(Describe, unknown_numbers) {
  EXPECT_EQ(driver_error_name(static_cast<CUresult>(424242)), nullptr);
  EXPECT_EQ(driver_error_text(static_cast<CUresult>(-1)), nullptr);
  EXPECT_STREQ(runtime_error_name(static_cast<cudaError_t>(424242)), "unrecognized error code");
  EXPECT_EQ(runtime_error_of(static_cast<CUresult>(424242)), cudaErrorUnknown);
  EXPECT_EQ(runtime_error_of(CUDA_ERROR_CONTEXT_ALREADY_CURRENT), cudaErrorUnknown);
  EXPECT_EQ(runtime_error_of(CUDA_ERROR_NOT_READY), cudaErrorNotReady);
}

// A code that Heddle uses inside is a CUresult of the same number, so it needs no translation.
TEST(Describe, our_codes_are_driver_errors) {
  const auto name = [](ErrorCode code) { return driver_error_name(static_cast<CUresult>(code)); };
  EXPECT_STREQ(name(ErrorCode::kInvalidValue), "CUDA_ERROR_INVALID_VALUE");
  EXPECT_STREQ(name(ErrorCode::kInvalidContext), "CUDA_ERROR_INVALID_CONTEXT");
  EXPECT_STREQ(name(ErrorCode::kNoBinaryForGpu), "CUDA_ERROR_NO_BINARY_FOR_GPU");
  EXPECT_STREQ(name(ErrorCode::kInvalidPtx), "CUDA_ERROR_INVALID_PTX");
  EXPECT_STREQ(name(ErrorCode::kNotFound), "CUDA_ERROR_NOT_FOUND");
  EXPECT_STREQ(name(ErrorCode::kAssert), "CUDA_ERROR_ASSERT");
  EXPECT_STREQ(name(ErrorCode::kNotSupported), "CUDA_ERROR_NOT_SUPPORTED");
  EXPECT_STREQ(name(ErrorCode::kUnknown), "CUDA_ERROR_UNKNOWN");
}

}  // namespace
}  // namespace heddle::api

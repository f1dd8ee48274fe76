// The number of exported names is a fact about NVIDIA's libraries (tests/abi has the names).
#include "api/coverage.h"

#include <gtest/gtest.h>

namespace heddle::api {
namespace {

TEST(Coverage, counts_all_exported_names) {
  EXPECT_NE(print_driver_coverage().find("exports 674 names"), std::string::npos);
  EXPECT_NE(print_runtime_coverage().find("exports 422 names"), std::string::npos);
}

}  // namespace
}  // namespace heddle::api

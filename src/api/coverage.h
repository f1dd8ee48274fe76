// The coverage pages: what driver.def and runtime.def say about themselves. Tested by coverage_test.cc and the ctest
// coverage_pages.
#pragma once

#include <string>

namespace heddle::api {

/// docs/coverage/driver.md and runtime.md.
std::string print_driver_coverage();
std::string print_runtime_coverage();

}  // namespace heddle::api

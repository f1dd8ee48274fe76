#include "exec/print.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace heddle::exec {
namespace {

std::string format(const char* text, const void* arguments, int* used = nullptr) {
  char out[256];
  std::size_t length = 0;
  const int n = format_device_text(text, arguments, out, sizeof out, &length);
  if (used) *used = n;
  return std::string(out, length);
}

TEST(Print, reads_arguments_at_their_natural_alignment) {
  alignas(8) char buffer[64] = {};
  const int i = -7;
  const double d = 2.5;
  const char* s = "text";
  const long long wide = -1;
  std::memcpy(buffer, &i, 4);
  std::memcpy(buffer + 8, &d, 8);
  std::memcpy(buffer + 16, &s, 8);
  std::memcpy(buffer + 24, &wide, 8);
  int used = 0;
  EXPECT_EQ(format("%d|%6.2f|%-6s|%llx|%%", buffer, &used), "-7|  2.50|text  |ffffffffffffffff|%");
  EXPECT_EQ(used, 4);
}

TEST(Print, survives_bad_formats) {
  alignas(8) const char zeros[64] = {};
  int used = 0;
  EXPECT_EQ(format("%n%y %", zeros, &used), "%n%y %");
  EXPECT_EQ(used, 0);
  EXPECT_EQ(format("%s", zeros), "(null)");
  std::size_t length = 0;
  EXPECT_EQ(format_device_text(nullptr, zeros, nullptr, 0, &length), -2);
  EXPECT_EQ(format("%99999999d", zeros).size(), 255u);  // cut, not overrun
}

}  // namespace
}  // namespace heddle::exec

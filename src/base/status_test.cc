#include "base/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace heddle {
namespace {

Result<std::string> name_of(int i) {
  if (i < 0) return Status(ErrorCode::kInvalidValue, "negative");
  return std::string("n");
}
Result<int> length_of(int i) {
  HEDDLE_ASSIGN(std::string name, name_of(i));
  return static_cast<int>(name.size());
}
Status check(int i) {
  HEDDLE_TRY(length_of(i).status());
  return {};
}

TEST(Status, carries_code_and_explanation) {
  EXPECT_TRUE(Status().ok());
  EXPECT_EQ(check(-1).code(), ErrorCode::kInvalidValue);
  EXPECT_STREQ(check(-1).why(), "negative");
  EXPECT_TRUE(check(1).ok());
}
TEST(Result, holds_move_only_values) {
  Result<std::unique_ptr<int>> r(std::make_unique<int>(3));
  ASSERT_TRUE(r);
  std::unique_ptr<int> p = std::move(r).value();
  EXPECT_EQ(*p, 3);
}

}  // namespace
}  // namespace heddle

// The wrapper around every exported function: order of checks, default stream, exceptions, trace.
#include "api/entry.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace heddle::api {
namespace {

std::vector<std::string> events;
int admitted = 0;

struct TestPolicy {
  using Result = int;
  static constexpr int kSuccess = 0;
  static constexpr int kOutOfMemory = 2;
  static constexpr int kUnknown = 999;
  static int admit(Needs) noexcept {
    events.push_back("admit");
    return admitted;
  }
  static void failed(const Entry& entry, int result) noexcept {
    events.push_back(std::string(entry.name) + " failed " + std::to_string(result));
  }
  static int missing(const Entry&) { return 801; }
};

int body(int value, const char* text) {
  events.push_back("body");
  if (value == -1) throw std::bad_alloc();
  if (value == -2) throw std::runtime_error(text);
  if (value == -3) return default_stream_is_per_thread() ? 1 : 0;
  return value;
}

constinit Entry entry{"function", "(int value, const char* text)", Needs::kContext};

class EntryTest : public testing::Test {
 protected:
  void SetUp() override {
    events.clear();
    admitted = 0;
  }
  using Events = std::vector<std::string>;
};

TEST_F(EntryTest, checks_before_the_body) {
  EXPECT_EQ((enter<TestPolicy, Needs::kContext, false>(entry, &body, 0, "")), 0);
  EXPECT_EQ(events, (Events{"admit", "body"}));
  events.clear();
  admitted = 201;
  EXPECT_EQ((enter<TestPolicy, Needs::kContext, false>(entry, &body, 0, "")), 201);
  EXPECT_EQ(events, (Events{"admit", "function failed 201"}));
  events.clear();
  EXPECT_EQ((enter<TestPolicy, Needs::kNothing, false>(entry, &body, 5, "")), 5);
  EXPECT_EQ(events, (Events{"body", "function failed 5"}));
}

TEST_F(EntryTest, exceptions_become_errors) {
  EXPECT_EQ((enter<TestPolicy, Needs::kNothing, false>(entry, &body, -1, "")), 2);
  EXPECT_EQ((enter<TestPolicy, Needs::kNothing, false>(entry, &body, -2, "why")), 999);
}

TEST_F(EntryTest, twins_set_the_default_stream_for_the_call_alone) {
  EXPECT_EQ((enter<TestPolicy, Needs::kNothing, false>(entry, &body, -3, "")), 0);
  EXPECT_EQ((enter<TestPolicy, Needs::kNothing, true>(entry, &body, -3, "")), 1);
  EXPECT_FALSE(default_stream_is_per_thread());
}

TEST_F(EntryTest, trace_sees_arguments_and_result) {
  static const TraceHook hook{
      [](const Entry& traced, std::span<const Argument> arguments) {
        ASSERT_EQ(arguments.size(), 2u);
        EXPECT_EQ(arguments[0].kind, Argument::kSigned);
        EXPECT_EQ(arguments[1].kind, Argument::kText);
        events.push_back(std::string("before ") + traced.name + " " +
                         std::to_string(*static_cast<const int*>(arguments[0].value)));
      },
      [](const Entry&, std::span<const Argument>, int result) { events.push_back("after " + std::to_string(result)); }};
  trace_hook.store(&hook);
  EXPECT_EQ((enter<TestPolicy, Needs::kContext, false>(entry, &body, 7, "")), 7);
  trace_hook.store(nullptr);
  EXPECT_EQ(events, (Events{"before function 7", "admit", "body", "function failed 7", "after 7"}));
}

}  // namespace
}  // namespace heddle::api

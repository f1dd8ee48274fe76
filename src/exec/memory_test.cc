#include "exec/memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "exec/device.h"

namespace heddle::exec {
namespace {

constexpr std::size_t kMiB = 1u << 20;

TEST(DeviceMemory, gives_aligned_disjoint_memory_and_finds_it) {
  DeviceMemory memory(64 * kMiB);
  std::vector<std::uintptr_t> all;
  for (const std::size_t bytes : {1ul, 511ul, 513ul, 70'000ul, 5 * kMiB, 4ul}) {
    const auto p = memory.allocate(bytes, bytes);
    ASSERT_TRUE(p);
    EXPECT_EQ(*p % DeviceMemory::kAlignment, 0u);
    std::memset(reinterpret_cast<void*>(*p), 0x5a, bytes);
    EXPECT_EQ(memory.find(*p + bytes - 1)->begin, *p);
    EXPECT_EQ(memory.find(*p + bytes - 1)->bytes, bytes);
    EXPECT_FALSE(memory.find(*p + bytes));
    EXPECT_EQ(memory.find_tag(*p), bytes);
    all.push_back(*p);
  }
  for (const auto p : all) EXPECT_TRUE(memory.free(p).ok());
  EXPECT_EQ(memory.used(), 0u);
  EXPECT_EQ(memory.free(all[0]).code(), ErrorCode::kInvalidValue);
}

TEST(DeviceMemory, says_when_it_is_full_and_joins_holes) {
  DeviceMemory memory(8 * kMiB);
  const auto a = memory.allocate(4 * kMiB), b = memory.allocate(4 * kMiB);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(memory.allocate(1).error().code(), ErrorCode::kOutOfMemory);
  EXPECT_EQ(memory.allocate(0).error().code(), ErrorCode::kInvalidValue);
  EXPECT_TRUE(memory.free(*a).ok());
  EXPECT_TRUE(memory.free(*b).ok());
  EXPECT_TRUE(memory.allocate(8 * kMiB));
}

TEST(DeviceHeap, reuses_blocks_and_refuses_foreign_pointers) {
  Device device(0, 64 * kMiB);
  EXPECT_TRUE(device.heap().set_limit(kMiB));
  void* const a = device.heap().allocate(100);
  ASSERT_NE(a, nullptr);
  EXPECT_FALSE(device.heap().set_limit(2 * kMiB));
  EXPECT_TRUE(device.heap().free(a));
  EXPECT_FALSE(device.heap().free(a));
  EXPECT_EQ(device.heap().allocate(128), a);
  EXPECT_EQ(device.heap().allocate(2 * kMiB), nullptr);
  int local = 0;
  EXPECT_FALSE(device.heap().free(&local));
}

}  // namespace
}  // namespace heddle::exec

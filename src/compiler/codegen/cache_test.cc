#include "compiler/codegen/cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace heddle::codegen {
namespace {

namespace fs = std::filesystem;

class Cache : public testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("heddle-cache-test-" + std::to_string(getpid()));
    fs::remove_all(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  static CachedKernel kernel(std::size_t bytes = 1000) {
    CachedKernel k;
    for (std::size_t i = 0; i < bytes; ++i) k.object.push_back(static_cast<std::uint8_t>(i * 7));
    k.frame_bytes = 192;
    k.has_range = true;
    k.static_shared_bytes = 1024;
    k.shared_align = 32;
    k.local_bytes = 48;
    k.globals = {"a", "", "table"};
    k.files = {"k.cu"};
    k.lines = {{0, 10, 1, 0}, {16, 11, 2, 0}};
    k.explanation = "32 lanes";
    return k;
  }
  static CacheKey key(std::uint64_t n) {
    KeyBuilder builder;
    builder.add(n);
    return builder.finish();
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder)) found.push_back(entry.path());
    return found;
  }

  fs::path folder;
};

TEST_F(Cache, gives_back_what_was_stored) {
  const CachedKernel stored = kernel();
  ASSERT_TRUE(internal::store_in(folder, 1 << 20, key(1), stored).ok());
  const auto found = internal::find_in(folder, key(1));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->object, stored.object);
  EXPECT_EQ(found->frame_bytes, 192u);
  EXPECT_TRUE(found->has_range);
  EXPECT_EQ(found->static_shared_bytes, 1024u);
  EXPECT_EQ(found->shared_align, 32u);
  EXPECT_EQ(found->local_bytes, 48u);
  EXPECT_EQ(found->globals, stored.globals);
  EXPECT_EQ(found->files, stored.files);
  ASSERT_EQ(found->lines.size(), 2u);
  EXPECT_EQ(found->lines[1].code_offset, 16u);
  EXPECT_EQ(found->lines[1].ptx_line, 11u);
  EXPECT_EQ(found->explanation, "32 lanes");
  EXPECT_FALSE(internal::find_in(folder, key(2)));
}

TEST_F(Cache, ignores_every_damaged_file) {
  const std::vector<std::uint8_t> good = internal::serialize(key(1), kernel(100));
  ASSERT_TRUE(internal::deserialize(key(1), good));
  EXPECT_FALSE(internal::deserialize(key(2), good)) << "another key's file";
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::vector<std::uint8_t> bad = good;
    bad[i] ^= 0x40;
    EXPECT_FALSE(internal::deserialize(key(1), bad)) << "byte " << i;
  }
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(internal::deserialize(key(1), std::span(good).first(size))) << size;
  }
  std::vector<std::uint8_t> longer = good;
  longer.push_back(0);
  EXPECT_FALSE(internal::deserialize(key(1), longer));
}

TEST_F(Cache, a_damaged_file_is_replaced) {
  ASSERT_TRUE(internal::store_in(folder, 1 << 20, key(1), kernel()).ok());
  ASSERT_EQ(files().size(), 1u);
  fs::resize_file(files()[0], 50);
  EXPECT_FALSE(internal::find_in(folder, key(1)));
  ASSERT_TRUE(internal::store_in(folder, 1 << 20, key(1), kernel()).ok());
  EXPECT_TRUE(internal::find_in(folder, key(1)));
}

TEST_F(Cache, stays_within_its_bound_by_dropping_what_was_used_longest_ago) {
  const std::uint64_t bound = 5000;
  for (std::uint64_t n = 0; n < 3; ++n) ASSERT_TRUE(internal::store_in(folder, bound, key(n), kernel(1200)).ok());
  const auto age = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const fs::path& file : files()) fs::last_write_time(file, age);
  ASSERT_TRUE(internal::find_in(folder, key(1)));  // used now
  for (std::uint64_t n = 3; n < 5; ++n) ASSERT_TRUE(internal::store_in(folder, bound, key(n), kernel(1200)).ok());
  EXPECT_TRUE(internal::find_in(folder, key(1)));
  EXPECT_FALSE(internal::find_in(folder, key(0)) && internal::find_in(folder, key(2)));
  std::uint64_t total = 0;
  for (const fs::path& file : files()) total += fs::file_size(file);
  EXPECT_LE(total, bound);
}

TEST_F(Cache, a_kernel_larger_than_the_bound_is_not_kept) {
  ASSERT_TRUE(internal::store_in(folder, 100, key(1), kernel()).ok());
  EXPECT_TRUE(files().empty());
}

TEST_F(Cache, a_folder_that_cannot_be_made_is_an_error_and_no_crash) {
  fs::create_directories(folder);
  std::ofstream(folder / "file") << "x";
  EXPECT_FALSE(internal::store_in(folder / "file" / "below", 1 << 20, key(1), kernel()).ok());
  EXPECT_FALSE(internal::find_in(folder / "file" / "below", key(1)));
}

TEST_F(Cache, many_threads_share_it) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::uint64_t n = 0; n < 20; ++n) {
        EXPECT_TRUE(internal::store_in(folder, 1 << 20, key(n % 3), kernel()).ok());
        const auto found = internal::find_in(folder, key(n % 3));
        EXPECT_TRUE(found && found->object == kernel().object);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(files().size(), 3u) << "drafts were left behind";
}

TEST(CacheKeys, depend_on_all_that_goes_in) {
  auto of = [](auto... parts) {
    KeyBuilder builder;
    (builder.add(parts), ...);
    return builder.finish();
  };
  using View = std::string_view;
  EXPECT_EQ(of(View("ab"), View("c")), of(View("ab"), View("c")));
  EXPECT_NE(of(View("ab"), View("c")), of(View("a"), View("bc")));
  EXPECT_NE(of(View("a")), of(View("a"), View("")));
  EXPECT_NE(of(std::uint64_t{1}, std::uint64_t{2}), of(std::uint64_t{2}, std::uint64_t{1}));
  compiler::Variant a, b;
  b.block[0] = 32;
  EXPECT_NE(of(a), of(b));
  b = a;
  b.width = 16;
  EXPECT_NE(of(a), of(b));
}

TEST(CacheKeys, the_processor_has_an_identity_that_stays) {
  EXPECT_FALSE(cpu_identity().empty());
  EXPECT_EQ(cpu_identity(), std::string(cpu_identity()));
  EXPECT_EQ(file_identity("/no/such/file"), "");
  EXPECT_NE(file_identity("/proc/self/exe"), "");
}

}  // namespace
}  // namespace heddle::codegen

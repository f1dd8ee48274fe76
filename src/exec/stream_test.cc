#include "exec/stream.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "exec/launch.h"

namespace heddle::exec {
namespace {

using std::chrono::milliseconds;

std::unique_ptr<Work> work(std::function<void()> body) {
  return std::make_unique<FunctionWork>([body = std::move(body)](bool) { body(); });
}

TEST(Stream, runs_in_order_without_being_polled) {
  auto group = make_ref<StreamGroup>();
  auto stream = Stream::create(group, Stream::Kind::kNonBlocking);
  std::vector<int> order;
  std::atomic<bool> last{false};
  for (int i = 0; i < 100; ++i) stream->submit(work([&order, i] { order.push_back(i); }));
  stream->submit(work([&] { last = true; }));
  while (!last) std::this_thread::sleep_for(milliseconds(1));
  stream->synchronize();
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
  group->close();
}

TEST(Stream, legacy_stream_orders_blocking_streams_only) {
  auto group = make_ref<StreamGroup>();
  auto legacy = Stream::create(group, Stream::Kind::kLegacy);
  auto blocking = Stream::create(group, Stream::Kind::kBlocking);
  auto other = Stream::create(group, Stream::Kind::kBlocking);
  auto free = Stream::create(group, Stream::Kind::kNonBlocking);
  std::atomic<bool> go{false};
  std::atomic<int> step{0};
  int legacy_at = 0, other_at = 0;
  blocking->submit(work([&] {
    while (!go) std::this_thread::yield();
    ++step;
  }));
  EXPECT_FALSE(legacy->begin_now());  // it would have to wait
  legacy->submit(work([&] { legacy_at = ++step; }));
  other->submit(work([&] { other_at = ++step; }));
  free->submit(work([] {}));
  free->synchronize();  // not held up
  EXPECT_EQ(step, 0);
  go = true;
  group->synchronize();
  EXPECT_EQ(legacy_at, 2);
  EXPECT_EQ(other_at, 3);
  ASSERT_TRUE(legacy->begin_now());
  legacy->end_now();
  EXPECT_TRUE(group->idle());
  group->close();
}

TEST(Stream, events_join_streams) {
  auto group = make_ref<StreamGroup>();
  auto a = Stream::create(group, Stream::Kind::kNonBlocking), b = Stream::create(group, Stream::Kind::kNonBlocking);
  auto event = make_ref<Event>(true);
  std::atomic<bool> go{false}, a_done{false}, ordered{false};
  a->submit(work([&] {
    while (!go) std::this_thread::yield();
    a_done = true;
  }));
  event->record(*a);
  EXPECT_FALSE(event->done());
  b->submit(work([&] { ordered = a_done.load(); }), {event->fence()});
  go = true;
  b->synchronize();
  EXPECT_TRUE(ordered);
  EXPECT_TRUE(event->done());
  auto later = make_ref<Event>(true);
  later->record(*a);
  later->wait();
  EXPECT_GE(later->nanoseconds(), event->nanoseconds());
  group->close();
}

TEST(Stream, kernel_that_waits_for_the_host_does_not_hold_the_caller) {
  auto group = make_ref<StreamGroup>();
  auto stream = Stream::create(group, Stream::Kind::kNonBlocking);
  LaunchCost cost;
  cost.nanoseconds_per_cta = 1;  // as if it had been fast before: it starts on the caller
  std::atomic<int> flag{0};
  Grid* grid = take_grid();
  grid->launch.grid_x = 4;
  grid->launch.grid_y = grid->launch.grid_z = grid->launch.block_y = grid->launch.block_z = 1;
  grid->launch.block_x = 32;
  grid->launch.params = &flag;
  grid->warp = [](const LaunchContext* launch, CtaContext*, std::uint32_t) -> std::uint32_t {
    return static_cast<std::atomic<int>*>(launch->params)->load() ? kWarpDone : kWarpYield;
  };
  launch(*stream, grid, &cost);
  EXPECT_FALSE(stream->idle());
  flag = 1;
  stream->synchronize();
  EXPECT_EQ(cost.suspensions, 1u);
  group->close();
}

TEST(Stream, empty_kernel_on_an_idle_stream_takes_the_short_way) {
  auto group = make_ref<StreamGroup>();
  auto stream = Stream::create(group, Stream::Kind::kLegacy);
  LaunchCost cost;
  cost.nanoseconds_per_cta = 10;
  constexpr int kTimes = 10'000;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kTimes; ++i) {
    Grid* grid = take_grid();
    grid->launch.grid_x = grid->launch.grid_y = grid->launch.grid_z = 1;
    grid->launch.block_x = 32;
    grid->launch.block_y = grid->launch.block_z = 1;
    grid->warp = [](const LaunchContext*, CtaContext*, std::uint32_t) -> std::uint32_t { return kWarpDone; };
    launch(*stream, grid, &cost);
    stream->synchronize();
  }
  const auto each = (std::chrono::steady_clock::now() - begin) / kTimes;
  RecordProperty("nanoseconds", static_cast<int>(std::chrono::nanoseconds(each).count()));
  std::printf("launch + synchronize: %lld ns\n", static_cast<long long>(std::chrono::nanoseconds(each).count()));
  EXPECT_TRUE(stream->idle());
  group->close();
}

}  // namespace
}  // namespace heddle::exec

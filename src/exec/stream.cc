#include "exec/stream.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/log.h"
#include "exec/fault.h"

namespace heddle::exec {

/// Threads that drive streams when no caller does. There are as many as streams have work at the same time, so one that
/// blocks (a host function, a wait on memory) keeps nobody else from running.
class Executors {
 public:
  static Executors& instance() {
    static Executors* const kExecutors = new Executors;  // leaked: work may outlive static destructors
    return *kExecutors;
  }

  void post(Ref<Stream> stream) {
    MutexLock lock(mutex_);
    queue_.push_back(std::move(stream));
    if (idle_ >= queue_.size()) {
      wake_.notify_one();
      return;
    }
    try {
      std::thread([this] { main(); }).detach();
    } catch (const std::system_error& error) {
      LOG_ERROR("can't start a thread for a stream: %s", error.what());  // a busy executor gets to it later
    }
  }

 private:
  void main() {
    ::pthread_setname_np(::pthread_self(), "heddle-stream");
    prepare_thread_for_faults();
    for (;;) {
      Ref<Stream> stream;
      {
        MutexLock lock(mutex_);
        ++idle_;
        while (queue_.empty()) wake_.wait(mutex_);
        --idle_;
        stream = std::move(queue_.front());
        queue_.pop_front();
      }
      stream->drive_posted();
    }
  }

  Mutex mutex_;
  CondVar wake_;
  std::deque<Ref<Stream>> queue_ GUARDED_BY(mutex_);
  std::size_t idle_ GUARDED_BY(mutex_) = 0;
};

bool Fence::done() const { return !stream || stream->completed() >= number; }
void Fence::wait() const {
  if (stream) stream->wait(number);
}

Ref<Stream> Stream::create(Ref<StreamGroup> group, Kind kind) {
  Ref<Stream> stream(new Stream(group, kind));
  group->add(stream);
  return stream;
}

std::uint64_t Stream::submit(std::unique_ptr<Work> work, std::vector<Fence> fences) {
  std::erase_if(fences, [](const Fence& fence) { return fence.done(); });
  MutexLock group_lock(group_->mutex_);
  group_->collect_fences(*this, &fences);
  work->fences_ = std::move(fences);
  MutexLock lock(mutex_);
  const std::uint64_t number = submitted_.load(std::memory_order_relaxed) + 1;
  submitted_.store(number, std::memory_order_release);
  queue_.push_back(std::move(work));
  if (state_ == State::kIdle) {
    state_ = State::kPosted;
    Executors::instance().post(Ref<Stream>(this));
  }
  return number;
}

Fence Stream::last() { return Fence{Ref<Stream>(this), submitted()}; }

bool Stream::begin_now() {
  MutexLock group_lock(group_->mutex_);
  if (group_->must_wait(*this)) return false;
  MutexLock lock(mutex_);
  if (state_ != State::kIdle || !queue_.empty()) return false;
  state_ = State::kDriven;
  submitted_.store(submitted_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  return true;
}

void Stream::end_now(std::unique_ptr<Work> rest) {
  if (!rest) complete_one();
  MutexLock lock(mutex_);
  if (rest) queue_.push_front(std::move(rest));
  if (queue_.empty()) {
    state_ = State::kIdle;
  } else {
    state_ = State::kPosted;
    Executors::instance().post(Ref<Stream>(this));
    changed_.notify_all();  // somebody who waits may take over
  }
}

void Stream::complete_one() {
  completed_.store(completed_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
  if (waiters_.load(std::memory_order_seq_cst) == 0) return;
  MutexLock lock(mutex_);
  changed_.notify_all();
}

void Stream::drive_posted() {
  {
    MutexLock lock(mutex_);
    if (state_ != State::kPosted) return;  // a caller was faster
    state_ = State::kDriven;
  }
  drive(~std::uint64_t{0});
}

// The caller has set state_ to kDriven. Runs work until `until` is complete or nothing is left.
void Stream::drive(std::uint64_t until) {
  bool ended = false;
  for (;;) {
    std::unique_ptr<Work> work;
    {
      // A stream is idle as soon as its last work counts as complete: who has waited may run work at once.
      MutexLock lock(mutex_);
      if (ended) {
        completed_.store(completed_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
        if (waiters_.load(std::memory_order_relaxed) != 0) changed_.notify_all();
      }
      if (queue_.empty()) {
        state_ = State::kIdle;
        return;
      }
      if (completed() >= until) {
        state_ = State::kPosted;
        Executors::instance().post(Ref<Stream>(this));
        return;
      }
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    for (const Fence& fence : work->fences_) fence.wait();
    work->run(*this, group_->failure() != ErrorCode::kSuccess);
    work.reset();  // before the work counts as complete: who waits may expect its references to be gone
    ended = true;
  }
}

void Stream::wait(std::uint64_t number) {
  const auto done = [&] { return completed_.load(std::memory_order_acquire) >= number; };
  if (done()) return;
  for (;;) {
    bool take = false;
    {
      MutexLock lock(mutex_);
      if (done()) return;
      if (state_ == State::kPosted || (state_ == State::kIdle && !queue_.empty())) {
        state_ = State::kDriven;
        take = true;
      } else {
        waiters_.fetch_add(1, std::memory_order_seq_cst);
        while (completed_.load(std::memory_order_seq_cst) < number && state_ == State::kDriven) changed_.wait(mutex_);
        waiters_.fetch_sub(1, std::memory_order_relaxed);
      }
    }
    if (take) {
      prepare_thread_for_faults();
      drive(number);
    }
    if (done()) return;
  }
}

void StreamGroup::add(const Ref<Stream>& stream) {
  MutexLock lock(mutex_);
  std::erase_if(streams_,
                [](const Ref<Stream>& s) { return s->retired_.load(std::memory_order_relaxed) && s->idle(); });
  streams_.push_back(stream);
  if (stream->kind() == Stream::Kind::kLegacy) legacy_ = stream.get();
}

void StreamGroup::collect_fences(const Stream& stream, std::vector<Fence>* fences) {
  if (stream.kind() == Stream::Kind::kLegacy) {
    for (const Ref<Stream>& other : streams_)
      if (other->kind() == Stream::Kind::kBlocking && !other->idle()) fences->push_back(other->last());
  } else if (stream.kind() == Stream::Kind::kBlocking && legacy_ && !legacy_->idle()) {
    fences->push_back(legacy_->last());
  }
}

bool StreamGroup::must_wait(const Stream& stream) {
  if (stream.kind() == Stream::Kind::kLegacy) {
    for (const Ref<Stream>& other : streams_)
      if (other->kind() == Stream::Kind::kBlocking && !other->idle()) return true;
    return false;
  }
  return stream.kind() == Stream::Kind::kBlocking && legacy_ && !legacy_->idle();
}

void StreamGroup::synchronize() {
  std::vector<Fence> fences;
  {
    MutexLock lock(mutex_);
    for (const Ref<Stream>& stream : streams_)
      if (!stream->idle()) fences.push_back(stream->last());
  }
  for (const Fence& fence : fences) fence.wait();
}

void StreamGroup::reset() {
  std::vector<Ref<Stream>> dropped;  // released outside the lock
  MutexLock lock(mutex_);
  const Stream* const legacy = legacy_;
  for (Ref<Stream>& stream : streams_)
    if (stream.get() != legacy) dropped.push_back(stream);
  std::erase_if(streams_, [=](const Ref<Stream>& stream) { return stream.get() != legacy; });
  failure_.store(0, std::memory_order_release);
}

void StreamGroup::close() {
  std::vector<Ref<Stream>> streams;  // released outside the lock
  MutexLock lock(mutex_);
  streams.swap(streams_);
  legacy_ = nullptr;
}

bool StreamGroup::idle() {
  MutexLock lock(mutex_);
  return std::all_of(streams_.begin(), streams_.end(), [](const Ref<Stream>& stream) { return stream->idle(); });
}

void StreamGroup::fail(ErrorCode code) {
  int none = 0;
  failure_.compare_exchange_strong(none, static_cast<int>(code), std::memory_order_acq_rel);
}

namespace {
std::int64_t now_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
}  // namespace

void Event::record(Stream& stream) {
  if (stream.begin_now()) {
    {
      MutexLock lock(mutex_);
      fence_ = {};
      recorded_ = true;
      time_.store(now_nanoseconds(), std::memory_order_release);
    }
    stream.end_now();
    return;
  }
  Ref<Event> self(this);
  // The fence is set under the lock before anybody can see the record as done.
  MutexLock lock(mutex_);
  const std::uint64_t number = stream.submit(std::make_unique<FunctionWork>(
      [self](bool) { self->time_.store(now_nanoseconds(), std::memory_order_release); }));
  fence_ = Fence{Ref<Stream>(&stream), number};
  recorded_ = true;
}

void Event::record_now() {
  MutexLock lock(mutex_);
  fence_ = {};
  recorded_ = true;
  time_.store(now_nanoseconds(), std::memory_order_release);
}

bool Event::recorded() {
  MutexLock lock(mutex_);
  return recorded_;
}
Fence Event::fence() {
  MutexLock lock(mutex_);
  return fence_;
}
bool Event::done() { return fence().done(); }
void Event::wait() { fence().wait(); }

}  // namespace heddle::exec

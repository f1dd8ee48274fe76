// Ref<T>: an intrusive, thread-safe reference to an object that derives from RefCounted. Used where a C handle and
// work in flight share an object (a handle is the bare pointer; the queue holds a Ref).
#pragma once

#include <atomic>
#include <concepts>
#include <utility>

namespace heddle {

class RefCounted {
 public:
  void retain() const { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() const {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 protected:
  RefCounted() = default;
  virtual ~RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

 private:
  mutable std::atomic<int> count_{0};
};

template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(T* object) : object_(object) {
    if (object_) object_->retain();
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  /// To a base class.
  template <class U>
    requires std::convertible_to<U*, T*>
  Ref(const Ref<U>& other) : Ref(static_cast<T*>(other.get())) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_) object_->release();
  }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) { return a.object_ == b.object_; }

 private:
  T* object_ = nullptr;
};

template <class T, class... A>
Ref<T> make_ref(A&&... arguments) {
  return Ref<T>(new T(std::forward<A>(arguments)...));
}

}  // namespace heddle

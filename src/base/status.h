// Status and Result<T>: how every function inside Heddle says that it failed. Nothing is thrown across an entry point.
//
// A Status is 16 bytes: a code and a static explanation (a string literal, never freed). What depends on run-time
// values goes to the log, at the place that knows them. Tested by base/status_test.cc.
#pragma once

#include <cstdlib>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/error_code.h"

namespace heddle {

class [[nodiscard]] Status {
 public:
  constexpr Status() = default;
  /// `why` must be a string literal or live as long as the process.
  constexpr explicit Status(ErrorCode code, const char* why = "") : code_(code), why_(why) {}

  constexpr bool ok() const { return code_ == ErrorCode::kSuccess; }
  constexpr ErrorCode code() const { return code_; }
  constexpr const char* why() const { return why_; }
  friend constexpr bool operator==(const Status& a, const Status& b) { return a.code_ == b.code_; }

 private:
  ErrorCode code_ = ErrorCode::kSuccess;
  const char* why_ = "";
};
static_assert(sizeof(Status) == 16);

/// A value or the Status that says why there is none; shaped like std::expected<T, Status>.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  // Implicit on purpose: `return value;` and `return Status(...);` both read as what they are.
  template <class U = T>
    requires(std::is_constructible_v<T, U &&> && !std::is_same_v<std::remove_cvref_t<U>, Status> &&
             !std::is_same_v<std::remove_cvref_t<U>, Result>)
  Result(U&& value) : storage_(std::in_place_index<0>, std::forward<U>(value)) {}
  Result(Status error) : storage_(std::in_place_index<1>, error) {
    if (error.ok()) std::abort();  // a success without a value is a bug of the caller
  }

  bool has_value() const { return storage_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& value() & { return std::get<0>(storage_); }
  const T& value() const& { return std::get<0>(storage_); }
  T&& value() && { return std::get<0>(std::move(storage_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  /// The failure; a success when there is a value.
  Status status() const { return has_value() ? Status() : std::get<1>(storage_); }
  Status error() const { return std::get<1>(storage_); }

 private:
  std::variant<T, Status> storage_;
};

}  // namespace heddle

#define HEDDLE_CONCAT_(a, b) a##b
#define HEDDLE_CONCAT(a, b) HEDDLE_CONCAT_(a, b)
/// Leaves the enclosing function with the Status of `expression` if it failed.
#define HEDDLE_TRY(expression)                                                  \
  do {                                                                          \
    if (::heddle::Status status_ = (expression); !status_.ok()) return status_; \
  } while (0)
/// Declares `variable` with the value of a Result, or leaves the enclosing function with its Status.
#define HEDDLE_ASSIGN(variable, expression) HEDDLE_ASSIGN_(HEDDLE_CONCAT(result_, __LINE__), variable, expression)
#define HEDDLE_ASSIGN_(result, variable, expression) \
  auto result = (expression);                        \
  if (!result) return result.error();                \
  variable = std::move(result).value()

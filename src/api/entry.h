// What happens around the body of every exported function, once for both libraries: `enter` below.
//
// A row of include/heddle/driver.def or runtime.def becomes an exported function (driver_exports.h, runtime_exports.h)
// that calls `enter` with the body, a plain function in namespace heddle::driver::impl or heddle::runtime::impl. Bodies
// therefore hold no policy: no check for initialisation, no trace, no catch. Formatting of arguments stays out of this
// template too, since it would cost several times its compile time: the trace gets pointers to the arguments, their
// kinds, and the text of the parameter list (trace.h prints them). Tested by entry_test.cc.
#pragma once

#include <cxxabi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <type_traits>

namespace heddle::api {

/// What must be there before a call.
enum class Needs : std::uint8_t {
  kNothing,
  kInit,     ///< cuInit; the runtime does it on demand
  kContext,  ///< a current context; the runtime makes the device's primary one current on demand
};

/// One exported function. Static, never freed.
struct Entry {
  const char* name;        ///< as exported: "cuMemcpyAsync_ptsz"
  const char* parameters;  ///< as declared: "(void* destination, size_t bytes)"
  Needs needs;
  mutable std::atomic<bool> warned{false};  ///< "not implemented" has been logged
};

/// One argument of a traced call: where it is and how to read it.
struct Argument {
  enum Kind : std::uint8_t { kPointer, kText, kSigned, kUnsigned, kFloat, kStructure };
  const void* value;
  Kind kind;  ///< kText is a const char*
  std::uint16_t size;
};

/// Called around every call while it is set (trace.h sets one; null by default). `result` is the error code, or 0 of
/// functions that return none.
struct TraceHook {
  void (*before)(const Entry& entry, std::span<const Argument> arguments);
  void (*after)(const Entry& entry, std::span<const Argument> arguments, int result);
};
inline constinit std::atomic<const TraceHook*> trace_hook{nullptr};

namespace detail {
// One byte: small enough for the static TLS block that libraries opened later share.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local bool per_thread_default_stream = false;
}  // namespace detail

/// Whether the stream handle 0 means the per-thread default stream in this call: true inside functions that end in
/// _ptds or _ptsz. Whoever turns a stream handle into a stream asks here, in one place per library; that covers
/// handles that are parameters, handles inside structures, and functions that have no stream parameter at all.
inline bool default_stream_is_per_thread() { return detail::per_thread_default_stream; }

/// The calling thread's default stream is the per-thread one while this object lives.
class PerThreadDefaultStream {
 public:
  PerThreadDefaultStream() : before_(detail::per_thread_default_stream) { detail::per_thread_default_stream = true; }
  ~PerThreadDefaultStream() { detail::per_thread_default_stream = before_; }
  PerThreadDefaultStream(const PerThreadDefaultStream&) = delete;
  PerThreadDefaultStream& operator=(const PerThreadDefaultStream&) = delete;

 private:
  bool before_;
};

/// Logs once per function that it is not there yet.
void warn_not_implemented(const Entry& entry);

/// Which error the exception in flight stands for: true if memory has run out. Call only from a catch block.
bool is_out_of_memory() noexcept;

/// An argument as a trace sees it. No more than a type's kind: formatting would make every function's template costly.
template <class T>
constexpr Argument describe_argument(const T& value) {
  constexpr Argument::Kind kKind = std::is_same_v<T, const char*> ? Argument::kText
                                   : std::is_pointer_v<T>         ? Argument::kPointer
                                   : std::is_floating_point_v<T>  ? Argument::kFloat
                                   : std::is_enum_v<T>            ? Argument::kUnsigned
                                   : std::is_integral_v<T>
                                       ? (std::is_signed_v<T> ? Argument::kSigned : Argument::kUnsigned)
                                       : Argument::kStructure;
  return {&value, kKind, sizeof(T)};
}

namespace detail {

template <class Policy, class... P>
[[gnu::always_inline]] inline typename Policy::Result run(const Entry& entry, typename Policy::Result (*body)(P...),
                                                          P... arguments) {
  typename Policy::Result result;
  try {
    result = body(arguments...);
  } catch (abi::__forced_unwind&) {
    throw;  // the thread is being cancelled; swallowing that would abort the process
  } catch (...) {
    result = is_out_of_memory() ? Policy::kOutOfMemory : Policy::kUnknown;
  }
  if (result != Policy::kSuccess) [[unlikely]]
    Policy::failed(entry, result);
  return result;
}

template <class Policy, class... P>
[[gnu::noinline]] typename Policy::Result run_traced(const TraceHook& hook, const Entry& entry,
                                                     typename Policy::Result (*body)(P...), P... arguments) {
  const std::array<Argument, sizeof...(P)> described{describe_argument(arguments)...};
  hook.before(entry, described);
  typename Policy::Result result = entry.needs == Needs::kNothing ? Policy::kSuccess : Policy::admit(entry.needs);
  if (result == Policy::kSuccess) {
    result = run<Policy>(entry, body, arguments...);
  } else {
    Policy::failed(entry, result);
  }
  hook.after(entry, described, static_cast<int>(result));
  return result;
}

}  // namespace detail

/// An exported function that returns an error code.
///
/// Policy::admit(needs) says whether the call may begin (exit, fork, initialisation, context); Policy::failed(entry,
/// result) is told of every result but success, after the body.
template <class Policy, Needs needs, bool per_thread, class... P>
[[gnu::always_inline]] inline typename Policy::Result enter(const Entry& entry, typename Policy::Result (*body)(P...),
                                                            std::type_identity_t<P>... arguments) {
  if constexpr (per_thread) {
    PerThreadDefaultStream scope;
    return enter<Policy, needs, false>(entry, body, arguments...);
  } else {
    if (const TraceHook* hook = trace_hook.load(std::memory_order_acquire)) [[unlikely]]
      return detail::run_traced<Policy>(*hook, entry, body, arguments...);
    if constexpr (needs != Needs::kNothing) {
      if (const typename Policy::Result result = Policy::admit(needs); result != Policy::kSuccess) [[unlikely]] {
        Policy::failed(entry, result);
        return result;
      }
    }
    return detail::run<Policy>(entry, body, arguments...);
  }
}

/// An exported function that is not there yet: the API's own error and a line in the log, whatever the arguments are.
template <class Policy, class... P>
[[gnu::always_inline]] inline typename Policy::Result missing(const Entry& entry, const P&...) {
  return Policy::missing(entry);
}

}  // namespace heddle::api

// ---- How a row's columns choose between macros ----
#define HEDDLE_API_JOIN_(a, b) a##b
#define HEDDLE_API_JOIN(a, b) HEDDLE_API_JOIN_(a, b)
/// HEDDLE_API_BY_COVERAGE(X_, coverage)(...) is X_Done(...) or X_Missing(...).
#define HEDDLE_API_KIND_Done Done
#define HEDDLE_API_KIND_Missing Missing
#define HEDDLE_API_KIND_NotApplicable(reason) Missing
#define HEDDLE_API_BY_COVERAGE(prefix, coverage) HEDDLE_API_JOIN(prefix, HEDDLE_API_KIND_##coverage)
/// (a, b) as further arguments: ", a, b"; () as nothing.
#define HEDDLE_API_AFTER(...) __VA_OPT__(, ) __VA_ARGS__

// The exported functions of libcudart, expanded from runtime.def. Included once, by src/runtime/exports.cc. Tested by
// tests/abi (the exported names).
#pragma once

#include "api/runtime_api.h"

namespace heddle::runtime {

/// A function whose result is not an error: no check before it, nothing recorded after it. Its body must not throw.
template <class Result, class... P>
[[gnu::always_inline]] inline Result enter_plain(const api::Entry& entry, Result (*body)(P...),
                                                 std::type_identity_t<P>... arguments) {
  const api::TraceHook* hook = api::trace_hook.load(std::memory_order_acquire);
  if (hook == nullptr) [[likely]]
    return body(arguments...);
  const std::array<api::Argument, sizeof...(P)> described{api::describe_argument(arguments)...};
  hook->before(entry, described);
  if constexpr (std::is_void_v<Result>) {
    body(arguments...);
    hook->after(entry, described, 0);
  } else {
    Result result = body(arguments...);
    int code = 0;
    if constexpr (std::is_same_v<Result, cudaError_t>) code = static_cast<int>(result);
    hook->after(entry, described, code);
    return result;
  }
}

template <class Result, class... P>
[[gnu::always_inline]] inline Result missing_plain(const api::Entry& entry, const P&...) {
  api::warn_not_implemented(entry);
  return Result();
}

}  // namespace heddle::runtime

#define HEDDLE_API_ENTRY(exported, parameters, needed)                                         \
  namespace heddle::runtime {                                                                  \
  static constinit api::Entry entry_##exported{#exported, #parameters, api::Needs::k##needed}; \
  }
#define HEDDLE_API_EXPORT_Done(exported, function, needed, per_thread, parameters, names)            \
  HEDDLE_API_ENTRY(exported, parameters, needed)                                                     \
  extern "C" [[gnu::visibility("default")]] cudaError_t exported parameters {                        \
    return heddle::api::enter<heddle::runtime::Policy, heddle::api::Needs::k##needed, per_thread>(   \
        heddle::runtime::entry_##exported, &heddle::runtime::impl::function HEDDLE_API_AFTER names); \
  }
#define HEDDLE_API_EXPORT_Missing(exported, function, needed, per_thread, parameters, names)                        \
  HEDDLE_API_ENTRY(exported, parameters, needed)                                                                    \
  extern "C" [[gnu::visibility("default")]] cudaError_t exported parameters {                                       \
    return heddle::api::missing<heddle::runtime::Policy>(heddle::runtime::entry_##exported HEDDLE_API_AFTER names); \
  }
#define HEDDLE_API_EXPORT(coverage) HEDDLE_API_BY_COVERAGE(HEDDLE_API_EXPORT_, coverage)
#define HEDDLE_API_TWIN_None(coverage, function, needs, parameters, names)
#define HEDDLE_API_TWIN_Ptds(coverage, function, needs, parameters, names) \
  HEDDLE_API_EXPORT(coverage)(function##_ptds, function, needs, true, parameters, names)
#define HEDDLE_API_TWIN_Ptsz(coverage, function, needs, parameters, names) \
  HEDDLE_API_EXPORT(coverage)(function##_ptsz, function, needs, true, parameters, names)
#define HEDDLE_RUNTIME(name, needs, stream, coverage, parameters, names)   \
  HEDDLE_API_EXPORT(coverage)(name, name, needs, false, parameters, names) \
      HEDDLE_API_TWIN_##stream(coverage, name, needs, parameters, names)

#define HEDDLE_API_PLAIN_Done(result, name, parameters, names)                                \
  HEDDLE_API_ENTRY(name, parameters, Nothing)                                                 \
  extern "C" [[gnu::visibility("default")]] result name parameters {                          \
    return heddle::runtime::enter_plain(heddle::runtime::entry_##name,                        \
                                        &heddle::runtime::impl::name HEDDLE_API_AFTER names); \
  }
#define HEDDLE_API_PLAIN_Missing(result, name, parameters, names)                                        \
  HEDDLE_API_ENTRY(name, parameters, Nothing)                                                            \
  extern "C" [[gnu::visibility("default")]] result name parameters {                                     \
    return heddle::runtime::missing_plain<result>(heddle::runtime::entry_##name HEDDLE_API_AFTER names); \
  }
#define HEDDLE_RUNTIME_PLAIN(result, name, coverage, parameters, names) \
  HEDDLE_API_BY_COVERAGE(HEDDLE_API_PLAIN_, coverage)(result, name, parameters, names)

#define HEDDLE_API_NAME_TWIN_None(function)
#define HEDDLE_API_NAME_TWIN_Ptds(function) HEDDLE_API_EXPORT_Missing(function##_ptds, , Nothing, true, (), ())
#define HEDDLE_API_NAME_TWIN_Ptsz(function) HEDDLE_API_EXPORT_Missing(function##_ptsz, , Nothing, true, (), ())
#define HEDDLE_RUNTIME_NAME(name, stream, coverage) \
  HEDDLE_API_EXPORT_Missing(name, , Nothing, false, (), ()) HEDDLE_API_NAME_TWIN_##stream(name)

#include "heddle/runtime.def"

// The runtime's view of the driver, whoever made it: one typed pointer per row of driver.def, named as exported, found
// by (base name, version, per-thread flag) as cuGetProcAddress wants them. A function that the driver doesn't have is a
// stub that returns CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, so that callers need no null checks. Tested by
// driver_table_test.cc.
#pragma once

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#elif defined(HEDDLE_DRIVER_RENAMES_H)
#error "include api/driver_table.h before cuda.h"
#endif
#include <cuda.h>

#include <algorithm>
#include <type_traits>

namespace heddle::api {

namespace detail {
template <class Function>
struct AbsentFunction;
template <class... P>
struct AbsentFunction<CUresult(P...)> {
  static CUresult call(P...) { return CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER; }
};
}  // namespace detail

struct DriverTable {
#define HEDDLE_API_MEMBER(function) \
  std::add_pointer_t<decltype(::function)> function = &detail::AbsentFunction<decltype(::function)>::call;
#define HEDDLE_API_MEMBERS_None(function) HEDDLE_API_MEMBER(function)
#define HEDDLE_API_MEMBERS_Ptds(function) HEDDLE_API_MEMBER(function) HEDDLE_API_MEMBER(function##_ptds)
#define HEDDLE_API_MEMBERS_Ptsz(function) HEDDLE_API_MEMBER(function) HEDDLE_API_MEMBER(function##_ptsz)
#define HEDDLE_DRIVER(base, suffix, version, needs, stream, coverage, parameters, names) \
  HEDDLE_API_MEMBERS_##stream(base##suffix)
#define HEDDLE_DRIVER_NAME(base, suffix, version, stream, coverage)
#include "heddle/driver.def"
#undef HEDDLE_API_MEMBER
#undef HEDDLE_API_MEMBERS_None
#undef HEDDLE_API_MEMBERS_Ptds
#undef HEDDLE_API_MEMBERS_Ptsz

  /// Asks for every function: `find(base, exported_name, version, per_thread)` returns its address or null. `base`,
  /// `version` and `per_thread` are for cuGetProcAddress_v2, `exported_name` for dlsym. Functions not found stay stubs.
  template <class Find>
  void load(Find&& find);
};

namespace detail {
/// One function to ask for, and where its pointer lies in the table.
struct DriverTableSlot {
  const char* base;
  const char* exported;
  int version;
  bool per_thread;
  unsigned offset;
};
extern const DriverTableSlot kDriverTableSlots[];
extern const unsigned kDriverTableSlotCount;
}  // namespace detail

template <class Find>
void DriverTable::load(Find&& find) {
  for (unsigned i = 0; i < detail::kDriverTableSlotCount; ++i) {
    const detail::DriverTableSlot& slot = detail::kDriverTableSlots[i];
    if (void* function = find(slot.base, slot.exported, slot.version, slot.per_thread))
      *reinterpret_cast<void**>(reinterpret_cast<char*>(this) + slot.offset) = function;
  }
}

}  // namespace heddle::api

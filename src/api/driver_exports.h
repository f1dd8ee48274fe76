// The exported functions of libcuda.so.1, expanded from driver.def, and the table behind cuGetProcAddress. Included
// once, by src/driver/exports.cc. Tested by src/api/proc_address_test.cc and tests/abi (the exported names).
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>

#include "api/driver_api.h"

// ---- Exported functions and their twins ----

#define HEDDLE_API_EXPORT_Done(exported, function, needed, per_thread, parameters, names)          \
  namespace heddle::driver {                                                                       \
  static constinit api::Entry entry_##exported{#exported, #parameters, api::Needs::k##needed};     \
  }                                                                                                \
  extern "C" [[gnu::visibility("default")]] CUresult exported parameters {                         \
    return heddle::api::enter<heddle::driver::Policy, heddle::api::Needs::k##needed, per_thread>(  \
        heddle::driver::entry_##exported, &heddle::driver::impl::function HEDDLE_API_AFTER names); \
  }
#define HEDDLE_API_EXPORT_Missing(exported, function, needed, per_thread, parameters, names)                      \
  namespace heddle::driver {                                                                                      \
  static constinit api::Entry entry_##exported{#exported, #parameters, api::Needs::k##needed};                    \
  }                                                                                                               \
  extern "C" [[gnu::visibility("default")]] CUresult exported parameters {                                        \
    return heddle::api::missing<heddle::driver::Policy>(heddle::driver::entry_##exported HEDDLE_API_AFTER names); \
  }
#define HEDDLE_API_EXPORT(coverage) HEDDLE_API_BY_COVERAGE(HEDDLE_API_EXPORT_, coverage)
#define HEDDLE_API_TWIN_None(coverage, function, needs, parameters, names)
#define HEDDLE_API_TWIN_Ptds(coverage, function, needs, parameters, names) \
  HEDDLE_API_EXPORT(coverage)(function##_ptds, function, needs, true, parameters, names)
#define HEDDLE_API_TWIN_Ptsz(coverage, function, needs, parameters, names) \
  HEDDLE_API_EXPORT(coverage)(function##_ptsz, function, needs, true, parameters, names)
#define HEDDLE_DRIVER(base, suffix, version, needs, stream, coverage, parameters, names)   \
  HEDDLE_API_EXPORT(coverage)(base##suffix, base##suffix, needs, false, parameters, names) \
      HEDDLE_API_TWIN_##stream(coverage, base##suffix, needs, parameters, names)

#define HEDDLE_API_NAME_TWIN_None(function)
#define HEDDLE_API_NAME_TWIN_Ptds(function) HEDDLE_API_EXPORT_Missing(function##_ptds, , Nothing, true, (), ())
#define HEDDLE_API_NAME_TWIN_Ptsz(function) HEDDLE_API_EXPORT_Missing(function##_ptsz, , Nothing, true, (), ())
#define HEDDLE_DRIVER_NAME(base, suffix, version, stream, coverage) \
  HEDDLE_API_EXPORT_Missing(base##suffix, , Nothing, false, (), ()) HEDDLE_API_NAME_TWIN_##stream(base##suffix)

#include "heddle/driver.def"

// ---- cuGetProcAddress ----

namespace heddle::driver {
namespace {

struct Procedure {
  std::string_view base;
  int version;  // 0: cannot be asked for
  void* pointer;
  void* twin;  // null: none
};

// The per-thread variants came with CUDA 7.0.
constexpr int kFirstTwinVersion = 7000;

template <class Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

// A local static: programs call cuGetProcAddress from constructors that may run before ours.
std::span<const Procedure> procedures() {
  static const Procedure kProcedures[] = {
#define HEDDLE_API_ADDRESS_None(function) address_of(&::function), nullptr
#define HEDDLE_API_ADDRESS_Ptds(function) address_of(&::function), address_of(&::function##_ptds)
#define HEDDLE_API_ADDRESS_Ptsz(function) address_of(&::function), address_of(&::function##_ptsz)
#define HEDDLE_DRIVER(base, suffix, version, needs, stream, coverage, parameters, names) \
  {#base, version, HEDDLE_API_ADDRESS_##stream(base##suffix)},
#define HEDDLE_DRIVER_NAME(base, suffix, version, stream, coverage) \
  {#base, version, HEDDLE_API_ADDRESS_##stream(base##suffix)},
#include "heddle/driver.def"
  };
  return kProcedures;
}

// The lookup below relies on the table's order.
struct RowOrder {
  std::string_view base;
  int version;
};
constexpr RowOrder kRowOrder[] = {
#define HEDDLE_DRIVER(base, suffix, version, needs, stream, coverage, parameters, names) {#base, version},
#define HEDDLE_DRIVER_NAME(base, suffix, version, stream, coverage) {#base, version},
#include "heddle/driver.def"
};
static_assert(std::is_sorted(std::begin(kRowOrder), std::end(kRowOrder),
                             [](const RowOrder& a, const RowOrder& b) {
                               return a.base < b.base || (a.base == b.base && a.version < b.version);
                             }),
              "driver.def must be sorted by base name, then by version");

}  // namespace

ProcAddress find_proc_address(const char* base, int version, bool per_thread) noexcept {
  const std::string_view name = base;
  const std::span<const Procedure> rows = procedures();
  auto row = std::lower_bound(rows.begin(), rows.end(), name,
                              [](const Procedure& a, std::string_view b) { return a.base < b; });
  ProcAddress found{nullptr, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND};
  for (; row != rows.end() && row->base == name; ++row) {
    if (row->version == 0) continue;
    const bool twin = per_thread && row->twin != nullptr;
    const int first = twin ? std::max(row->version, kFirstTwinVersion) : row->version;
    if (first <= version) {
      found = {twin ? row->twin : row->pointer, CU_GET_PROC_ADDRESS_SUCCESS};
    } else if (found.pointer == nullptr) {
      found.status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    }
  }
  return found;
}

}  // namespace heddle::driver

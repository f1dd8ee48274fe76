#include "api/driver_table.h"

#include <cstddef>

namespace heddle::api::detail {
namespace {
// The per-thread variants came with CUDA 7.0.
constexpr int twin_version(int version) { return std::max(version, 7000); }
}  // namespace

const DriverTableSlot kDriverTableSlots[] = {
#define HEDDLE_API_SLOT(base, function, version, per_thread) \
  {#base, #function, version, per_thread, offsetof(DriverTable, function)},
#define HEDDLE_API_SLOTS_None(base, function, version) HEDDLE_API_SLOT(base, function, version, false)
#define HEDDLE_API_SLOTS_Ptds(base, function, version) \
  HEDDLE_API_SLOT(base, function, version, false)      \
  HEDDLE_API_SLOT(base, function##_ptds, twin_version(version), true)
#define HEDDLE_API_SLOTS_Ptsz(base, function, version) \
  HEDDLE_API_SLOT(base, function, version, false)      \
  HEDDLE_API_SLOT(base, function##_ptsz, twin_version(version), true)
#define HEDDLE_DRIVER(base, suffix, version, needs, stream, coverage, parameters, names) \
  HEDDLE_API_SLOTS_##stream(base, base##suffix, version)
#define HEDDLE_DRIVER_NAME(base, suffix, version, stream, coverage)
#include "heddle/driver.def"
};
const unsigned kDriverTableSlotCount = sizeof kDriverTableSlots / sizeof kDriverTableSlots[0];

}  // namespace heddle::api::detail

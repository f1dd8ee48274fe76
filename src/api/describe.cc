#include "api/describe.h"

#include <algorithm>
#include <span>

namespace heddle::api {
namespace {

struct Described {
  int value;
  const char* name;
  const char* text;
};

constexpr Described kDriverErrors[] = {
#define HEDDLE_ERROR(value, driver_name, runtime_name, text) {value, #driver_name, text},
#define HEDDLE_DRIVER_ERROR(value, driver_name, text) {value, #driver_name, text},
#define HEDDLE_RUNTIME_ERROR(value, runtime_name, text)
#include "heddle/errors.def"
};
constexpr Described kRuntimeErrors[] = {
#define HEDDLE_ERROR(value, driver_name, runtime_name, text) {value, #runtime_name, text},
#define HEDDLE_DRIVER_ERROR(value, driver_name, text)
#define HEDDLE_RUNTIME_ERROR(value, runtime_name, text) {value, #runtime_name, text},
#include "heddle/errors.def"
};
constexpr Described kAttributes[] = {
#define HEDDLE_ATTRIBUTE(number, driver_name, runtime_name, reported) {number, #driver_name, ""},
#define HEDDLE_DRIVER_ATTRIBUTE(number, driver_name, reported) {number, #driver_name, ""},
#define HEDDLE_ATTRIBUTE_ALIAS(alias, driver_name)
#include "heddle/attributes.def"
};

constexpr bool is_sorted(std::span<const Described> table) {
  return std::is_sorted(table.begin(), table.end(),
                        [](const Described& a, const Described& b) { return a.value < b.value; });
}
static_assert(is_sorted(kDriverErrors) && is_sorted(kRuntimeErrors), "errors.def must be sorted by value");
static_assert(is_sorted(kAttributes), "attributes.def must be sorted by number");

const Described* find(std::span<const Described> table, int value) {
  const auto found = std::lower_bound(table.begin(), table.end(), value,
                                      [](const Described& a, int wanted) { return a.value < wanted; });
  return found != table.end() && found->value == value ? &*found : nullptr;
}

constexpr const char* kUnrecognized = "unrecognized error code";

}  // namespace

const char* driver_error_name(CUresult error) noexcept {
  const Described* found = find(kDriverErrors, error);
  return found ? found->name : nullptr;
}
const char* driver_error_text(CUresult error) noexcept {
  const Described* found = find(kDriverErrors, error);
  return found ? found->text : nullptr;
}
const char* runtime_error_name(cudaError_t error) noexcept {
  const Described* found = find(kRuntimeErrors, error);
  return found ? found->name : kUnrecognized;
}
const char* runtime_error_text(cudaError_t error) noexcept {
  const Described* found = find(kRuntimeErrors, error);
  return found ? found->text : kUnrecognized;
}
cudaError_t runtime_error_of(CUresult error) noexcept {
  return find(kRuntimeErrors, error) ? static_cast<cudaError_t>(error) : cudaErrorUnknown;
}
const char* device_attribute_name(CUdevice_attribute attribute) noexcept {
  const Described* found = find(kAttributes, attribute);
  return found ? found->name : nullptr;
}

}  // namespace heddle::api

#include "driver/state.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <sstream>
#include <string_view>

#include "base/log.h"
#include "base/options.h"
#include "driver/context.h"
#include "driver/pool.h"
#include "exec/workers.h"

namespace heddle::driver {
namespace {

constexpr int kMaxDevices = 64;  // tools/run.cc knows it too

// The word that every call reads: kReady after cuInit, until the process forks or exits.
enum Phase : int { kNew, kReady, kForked, kExiting };
std::atomic<int> g_phase{kNew};

Mutex g_mutex;
std::vector<std::unique_ptr<Device>>& devices() {
  static auto* const kDevices = new std::vector<std::unique_ptr<Device>>;
  return *kDevices;
}

thread_local const char* t_why = "";

std::string uuid_text(int physical) {
  char text[64];
  std::snprintf(text, sizeof text, "GPU-4865646c-6501-4350-5500-%012x", physical);
  return text;
}

// The visible devices' physical numbers, by NVIDIA's rules: the list ends at the first entry that names no device.
std::vector<int> visible(int count) {
  std::vector<int> all;
  const std::string& list = options().visible_devices;
  if (list.empty()) {
    for (int i = 0; i < count; ++i) all.push_back(i);
    return all;
  }
  std::stringstream stream(list);
  std::string entry;
  while (std::getline(stream, entry, ',')) {
    entry.erase(0, entry.find_first_not_of(" \t"));
    entry.erase(entry.find_last_not_of(" \t") + 1);
    int found = -1;
    if (entry.starts_with("GPU-")) {
      for (int i = 0; i < count; ++i)
        if (uuid_text(i).starts_with(entry)) found = i;
    } else {
      const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), found);
      if (error != std::errc() || end != entry.data() + entry.size() || found < 0 || found >= count) found = -1;
    }
    if (found < 0) break;
    if (std::find(all.begin(), all.end(), found) != all.end()) return {};  // twice the same: no device at all
    all.push_back(found);
  }
  return all;
}

[[gnu::destructor]] void on_exit() { g_phase.store(kExiting, std::memory_order_relaxed); }

void on_fork_child() {
  int ready = kReady;
  g_phase.compare_exchange_strong(ready, kForked);
}

CUresult refuse(int phase) {
  switch (phase) {
    case kExiting: return CUDA_ERROR_DEINITIALIZED;
    case kForked:
      return fail(
          ErrorCode::kNotInitialized,
          "this process was forked after cuInit, and CUDA can't be used in it: fork before the first CUDA call, "
          "or start the child with exec");
    default: return fail(ErrorCode::kNotInitialized, "cuInit has not been called");
  }
}

}  // namespace

Device::Device(int number, std::size_t memory_bytes) : ordinal(number), execution(number, memory_bytes) {}

namespace {

bool is_one_of(std::string_view value, std::initializer_list<std::string_view> all) {
  return value.empty() || std::find(all.begin(), all.end(), value) != all.end();
}

/// The value of a variable that must be a number; `fallback` with a word in the log if it isn't one in the range.
int number_of(const char* variable, const std::string& value, int low, int high, int fallback) {
  if (value.empty()) return fallback;
  int number = fallback;
  const char* const end = value.data() + value.size();
  const auto parsed = std::from_chars(value.data(), end, number);
  if (parsed.ec == std::errc() && parsed.ptr == end && number >= low && number <= high) return number;
  LOG_WARNING("%s=%s is not a number from %d to %d; %d is used", variable, value.c_str(), low, high, fallback);
  return fallback;
}

/// A value that means nothing is as if the variable weren't set; whoever set it should know.
void check_options() {
  const Options& o = options();
  if (!is_one_of(o.engine, {"code", "interpreter"}))
    LOG_WARNING("HEDDLE_ENGINE=%s is neither code nor interpreter; code is used", o.engine.c_str());
  if (!is_one_of(o.width, {"1", "8", "16", "32"}))
    LOG_WARNING("HEDDLE_WIDTH=%s is none of 1, 8, 16, 32; the width is chosen per kernel", o.width.c_str());
  if (!is_one_of(o.module_loading, {"LAZY", "EAGER", "DEFAULT"}))
    LOG_WARNING("CUDA_MODULE_LOADING=%s is neither LAZY nor EAGER; LAZY is used", o.module_loading.c_str());
}

}  // namespace

Status initialize() {
  const int phase = g_phase.load(std::memory_order_acquire);
  if (phase == kReady) return devices().empty() ? Status(ErrorCode::kNoDevice, "no device is visible") : Status();
  if (phase != kNew) return Status(static_cast<ErrorCode>(refuse(phase)), t_why);
  MutexLock lock(g_mutex);
  if (g_phase.load(std::memory_order_relaxed) == kReady)
    return devices().empty() ? Status(ErrorCode::kNoDevice, "no device is visible") : Status();
  check_options();
  const int count = number_of("HEDDLE_DEVICES", options().devices, 0, kMaxDevices, 1);
  const std::vector<int> physical = visible(count);
  const std::size_t bytes = exec::default_device_memory(std::max(count, 1));
  for (std::size_t i = 0; i < physical.size(); ++i) {
    devices().push_back(std::make_unique<Device>(static_cast<int>(i), bytes));
    devices().back()->physical = physical[i];
  }
  ::pthread_atfork(nullptr, nullptr, on_fork_child);
  g_phase.store(kReady, std::memory_order_release);
  if (devices().empty()) {
    LOG_WARNING("no device is visible: HEDDLE_DEVICES=%s CUDA_VISIBLE_DEVICES=%s", options().devices.c_str(),
                options().visible_devices.c_str());
    return Status(ErrorCode::kNoDevice, "no device is visible");
  }
  return {};
}

CUresult admit(api::Needs needs) noexcept {
  const int phase = g_phase.load(std::memory_order_acquire);
  if (phase != kReady) [[unlikely]]
    return refuse(phase);
  if (needs != api::Needs::kContext) return CUDA_SUCCESS;
  Context* const context = Context::current();
  if (!context) [[unlikely]]
    return fail(ErrorCode::kInvalidContext, "no context is current on this thread");
  if (const ErrorCode state = context->state(); state != ErrorCode::kSuccess) [[unlikely]]
    return fail(state, state == ErrorCode::kContextIsDestroyed
                           ? "the current context has been destroyed"
                           : "an earlier error of this context (see above in the log)");
  return CUDA_SUCCESS;
}

void failed(const api::Entry& entry, CUresult result) noexcept {
  if (result != CUDA_ERROR_NOT_READY && result != CUDA_ERROR_DEINITIALIZED)
    LOG_INFO("%s: error %d: %s", entry.name, static_cast<int>(result), t_why);
  t_why = "";
}

CUresult result_of(const Status& status) {
  t_why = status.why();
  return static_cast<CUresult>(status.code());
}
CUresult fail(ErrorCode code, const char* why) { return result_of(Status(code, why)); }

unsigned compute_capability() {
  static const unsigned kCapability = [] {
    unsigned major = 12, minor = 0;
    if (std::sscanf(options().compute_capability.c_str(), "%u.%u", &major, &minor) < 1 || major < 5 || major > 99 ||
        minor > 9) {
      LOG_WARNING("HEDDLE_COMPUTE_CAPABILITY=%s is not a compute capability such as 12.0; 12.0 is used",
                  options().compute_capability.c_str());
      major = 12;
      minor = 0;
    }
    return major * 10 + minor;
  }();
  return kCapability;
}

int device_count() { return static_cast<int>(devices().size()); }

Device* find_device(int ordinal) {
  return ordinal >= 0 && ordinal < device_count() ? devices()[static_cast<std::size_t>(ordinal)].get() : nullptr;
}

void log_lines(const char* prefix, const std::string& text) {
  std::stringstream stream(text);
  std::string line;
  while (std::getline(stream, line)) LOG_ERROR("%s%s", prefix, line.c_str());
}

namespace {

constexpr int kFromDevice = -0x7fffffff - 1;
#define HEDDLE_FROM_DEVICE kFromDevice

struct AttributeRow {
  int number;
  int value;
};
constexpr AttributeRow kAttributes[] = {
#define HEDDLE_ATTRIBUTE(number, driver_name, runtime_name, value) {number, value},
#define HEDDLE_DRIVER_ATTRIBUTE(number, driver_name, value) {number, value},
#define HEDDLE_ATTRIBUTE_ALIAS(alias, driver_name)
#include "heddle/attributes.def"
};

int machine_value(const Device& device, int attribute) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return exec::Workers::instance().count();
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return static_cast<int>(compute_capability() / 10);
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return static_cast<int>(compute_capability() % 10);
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return 2'000'000;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return 3'200'000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return 128;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: {
      const long bytes = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
      return bytes > 0 ? static_cast<int>(std::min(bytes, 1L << 30)) : 16 << 20;
    }
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID: return device.physical + 1;
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID: return 0;
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID: return 0;
    case CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID: return device.physical;
    case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS:
    case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES: return 1;
    default: return 0;
  }
}

}  // namespace

int attribute_value(const Device& device, int attribute, bool* known) {
  for (const AttributeRow& row : kAttributes) {
    if (row.number != attribute) continue;
    *known = true;
    return row.value == kFromDevice ? machine_value(device, attribute) : row.value;
  }
  *known = false;
  return 0;
}

}  // namespace heddle::driver

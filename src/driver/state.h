// What the driver knows of the process: its devices, whether cuInit has run, and how a body reports a failure.
// Tested by tests/api/driver/init_test.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/driver_api.h"
#include "base/mutex.h"
#include "base/ref.h"
#include "base/status.h"
#include "exec/device.h"

namespace heddle::driver {

class Context;
class MemoryPool;

/// A virtual GPU. Devices live as long as the process.
struct Device {
  explicit Device(int ordinal, std::size_t memory_bytes);
  const int ordinal;  ///< as this process counts: a CUdevice
  int physical = 0;   ///< before CUDA_VISIBLE_DEVICES; gives bus id and uuid
  exec::Device execution;
  Ref<Context> primary;  ///< made on the first retain, then kept (its handle never changes)
  Mutex mutex;
  int primary_references GUARDED_BY(mutex) = 0;
  unsigned primary_flags GUARDED_BY(mutex) = 0;
  Ref<MemoryPool> default_pool GUARDED_BY(mutex);
  Ref<MemoryPool> current_pool GUARDED_BY(mutex);
};

/// Reads the options and makes the devices; cuInit.
Status initialize();
/// 120 for 12.0.
unsigned compute_capability();
int device_count();
/// Null if there is no such device.
Device* find_device(int ordinal);
/// An attribute's value, also those that depend on the machine.
int attribute_value(const Device& device, int attribute, bool* known);

/// Turns a Status into what a body returns, and keeps its explanation for the log.
CUresult result_of(const Status& status);
CUresult fail(ErrorCode code, const char* why);

/// The log of a module load, for CU_JIT_ERROR_LOG_BUFFER and the process's own log.
void log_lines(const char* prefix, const std::string& text);

}  // namespace heddle::driver

/// Leaves a body with the failure of a Status expression.
#define DRIVER_TRY(expression)                                                                                     \
  do {                                                                                                             \
    if (const ::heddle::Status status_ = (expression); !status_.ok()) return ::heddle::driver::result_of(status_); \
  } while (0)
/// Declares a variable with the value of a Result, or leaves the body with its failure.
#define DRIVER_ASSIGN(variable, expression) DRIVER_ASSIGN_(HEDDLE_CONCAT(result_, __LINE__), variable, expression)
#define DRIVER_ASSIGN_(result, variable, expression)               \
  auto result = (expression);                                      \
  if (!result) return ::heddle::driver::result_of(result.error()); \
  variable = std::move(result).value()
/// Leaves a body with CUDA_ERROR_INVALID_VALUE unless the condition holds.
#define DRIVER_CHECK(condition, why)                                                          \
  do {                                                                                        \
    if (!(condition)) return ::heddle::driver::fail(::heddle::ErrorCode::kInvalidValue, why); \
  } while (0)

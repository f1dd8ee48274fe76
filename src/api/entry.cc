#include "api/entry.h"

#include <new>

#include "base/log.h"

namespace heddle::api {

void warn_not_implemented(const Entry& entry) {
  if (!entry.warned.exchange(true, std::memory_order_relaxed)) LOG_WARNING("%s is not implemented yet", entry.name);
}

bool is_out_of_memory() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace heddle::api

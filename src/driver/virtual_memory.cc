#include "driver/virtual_memory.h"

namespace heddle::driver {

std::optional<Allocation> find_mapping(std::uintptr_t) { return std::nullopt; }

}  // namespace heddle::driver

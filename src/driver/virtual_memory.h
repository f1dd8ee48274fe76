// Virtual memory management: reserved addresses, physical handles, and their mappings.
// Tested by tests/api/driver/virtual_memory_test.cc.
#pragma once

#include <cstdint>
#include <optional>

#include "driver/memory.h"

namespace heddle::driver {

/// The mapping that contains the address; part of find_allocation().
std::optional<Allocation> find_mapping(std::uintptr_t address);

}  // namespace heddle::driver

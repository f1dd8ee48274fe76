// Texture and surface objects: what a kernel's handle points to, and how one lane samples it.
// Tested by exec/texture_test.cc.
#pragma once

#include <cstdint>

#include "exec/kernel_abi.h"

namespace heddle::exec {

/// RuntimeTable::texture.
void sample_texture(const LaunchContext* launch, std::uint64_t handle, std::uint64_t form, const std::uint32_t* in,
                    std::uint32_t* out);

}  // namespace heddle::exec

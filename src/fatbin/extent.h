// How far memory is readable behind an address: what bounds an image whose size the API does not tell.
// Tested by fatbin/fatbin_test.cc.
#pragma once

#include <cstddef>

namespace heddle::fatbin {

/// Bytes that can be read from `address` on without a fault; 0 if none. The largest size_t where the system can't say.
std::size_t readable_bytes(const void* address);

}  // namespace heddle::fatbin

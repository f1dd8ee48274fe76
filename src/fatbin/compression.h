// LZ4 raw blocks and Zstandard frames, the two codecs of fatbin entries. Tested by fatbin/fatbin_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fatbin/fatbin.h"

namespace heddle::fatbin {

/// Exactly `full_size` bytes, or kInvalidImage. A size that this many compressed bytes can't hold is refused before
/// memory is allocated for it.
Result<std::string> decompress(Bytes data, Compression compression, std::uint64_t full_size);
/// kStored gives a copy.
Result<std::string> compress(std::string_view data, Compression compression);

}  // namespace heddle::fatbin

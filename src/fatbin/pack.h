// The writer of fatbin containers: the inverse of fatbin.h, used by the toolchain's fatbinary step and by tests.
// Tested by fatbin/fatbin_test.cc: what is packed reads back equal, with every compression.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fatbin/fatbin.h"

namespace heddle::fatbin {

struct PackEntry {
  Kind kind = Kind::kPtx;
  std::string_view content;  // PTX text without NUL, or an ELF file
  unsigned arch = 0;         // 90 for sm_90; 0: taken from the PTX's .target
  char suffix = 0;           // 'a' or 'f' for arch- and family-specific targets
  bool debug = false;
  Compression compression = Compression::kZstd;
  std::string_view options = {};    // kept as text beside the image
  std::string_view file_name = {};  // kept as text beside the image
};

/// A container with these entries, in this order.
Result<std::string> pack(const std::vector<PackEntry>& entries);
/// The commonest case: one container with one PTX text.
Result<std::string> pack_ptx(std::string_view text, Compression compression = Compression::kZstd);

}  // namespace heddle::fatbin

#include "fatbin/extent.h"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <limits>

namespace heddle::fatbin {

std::size_t readable_bytes(const void* address) {
  const auto start = reinterpret_cast<std::uintptr_t>(address);
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (!maps) return std::numeric_limits<std::size_t>::max();
  std::uintptr_t end = start;
  // Lines are sorted by address; a name longer than the buffer comes in pieces, and a piece doesn't parse as a range.
  char line[512];
  while (std::fgets(line, sizeof line, maps)) {
    std::uintptr_t low = 0, high = 0;
    char readable = 0;
    if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %c", &low, &high, &readable) != 3) continue;
    if (high <= end) continue;
    if (low > end || readable != 'r') break;
    end = high;
  }
  std::fclose(maps);
  return end - start;
}

}  // namespace heddle::fatbin

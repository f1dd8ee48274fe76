// TextureForm as the 64-bit number that RuntimeTable::texture gets. exec/texture.h unpacks the same bits.
#pragma once

#include <cstdint>

#include "compiler/ir/ir.h"

namespace heddle::ir {

/// bits 0-3 kind, 4-5 dimensions, 6 array, 7 cube, 8-15 bytes of a result element, 16 coordinates are floating-point,
/// 17-20 components, 21-22 clamp, 24-31 query.
inline std::uint64_t pack_texture_form(const TextureForm& form) {
  std::uint64_t bits = static_cast<std::uint64_t>(form.kind) & 15;
  bits |= static_cast<std::uint64_t>(form.dimensions & 3) << 4;
  bits |= static_cast<std::uint64_t>(form.is_array) << 6 | static_cast<std::uint64_t>(form.is_cube) << 7;
  bits |= static_cast<std::uint64_t>(bits_of(form.result) / 8) << 8;
  bits |= static_cast<std::uint64_t>(is_float(form.coordinate)) << 16;
  bits |= static_cast<std::uint64_t>(form.components & 15) << 17;
  bits |= static_cast<std::uint64_t>(form.clamp & 3) << 21;
  bits |= static_cast<std::uint64_t>(form.query) << 24;
  return bits;
}

}  // namespace heddle::ir

// Texture and surface objects: what a kernel's handle points to, and how one lane samples it.
// Tested by exec/texture_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/kernel_abi.h"

namespace heddle::exec {

/// A texture or surface. Its address is the handle that kernels are given; the driver keeps it alive.
struct Texture {
  static constexpr std::uint64_t kMagic = 0x6865'6464'6c65'7478;
  enum class Format : std::uint8_t { kU8, kS8, kU16, kS16, kU32, kS32, kF16, kF32 };
  enum Address : std::uint8_t { kWrap, kClamp, kMirror, kBorder };

  std::uint64_t magic = kMagic;
  std::uintptr_t data = 0;
  std::size_t pitch = 0, slice = 0;                ///< bytes from row to row and from slice (or layer) to slice
  std::uint32_t width = 1, height = 1, depth = 1;  ///< texels; depth is the number of layers of layered ones
  Format format = Format::kF32;
  std::uint8_t channels = 1;
  Address address[3] = {kClamp, kClamp, kClamp};
  bool is_linear_filter = false;
  bool is_normalized = false;     ///< coordinates run from 0 to 1
  bool reads_as_integer = false;  ///< else 8 and 16-bit integers become 0..1 or -1..1
  bool is_linear_memory = false;  ///< out of range reads give 0, whatever the address mode
  float border[4] = {0, 0, 0, 0};

  std::size_t texel_bytes() const;
};

/// RuntimeTable::texture. `form`: bits 0-3 kind (ir::TextureForm::Kind), 4-5 dimensions, 6 array, 7 cube, 8-15 bytes of
/// a result element, 16 floating-point coordinates, 17-20 components, 21-22 clamp, 24-31 query (ir/texture.h packs it).
/// in: layer if it is an array, coordinates, then data of a store; out: four 32-bit results.
void sample_texture(const LaunchContext* launch, std::uint64_t handle, std::uint64_t form, const std::uint32_t* in,
                    std::uint32_t* out);

}  // namespace heddle::exec

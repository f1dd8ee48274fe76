// Sampling follows the programming guide's appendix "Texture Fetching": texel centres at half coordinates, weights of
// linear filtering with 8 fractional bits.
#include "exec/texture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "exec/fault.h"

namespace heddle::exec {
namespace {

enum Kind : unsigned { kTex, kTexLevel, kTexGrad, kTld4, kSurfaceLoad, kSurfaceStore, kQuery };

struct Form {
  unsigned kind, dimensions, result_bytes, components, clamp, query;
  bool is_array, is_cube, has_float_coordinates;
};
Form unpack(std::uint64_t bits) {
  return {static_cast<unsigned>(bits & 15),
          static_cast<unsigned>(bits >> 4 & 3),
          static_cast<unsigned>(bits >> 8 & 255),
          static_cast<unsigned>(bits >> 17 & 15),
          static_cast<unsigned>(bits >> 21 & 3),
          static_cast<unsigned>(bits >> 24 & 255),
          (bits >> 6 & 1) != 0,
          (bits >> 7 & 1) != 0,
          (bits >> 16 & 1) != 0};
}

[[noreturn]] void refuse(ErrorCode code, const char* what) {
  Fault fault;
  fault.code = code;
  fault.what = what;
  raise_fault(nullptr, fault);
}

float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::uint32_t exponent = half >> 10 & 31, mantissa = half & 0x3ff;
  if (exponent == 0) return std::copysign(std::ldexp(static_cast<float>(mantissa), -24), sign ? -1.f : 1.f);
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

bool gives_float(const Texture& t) {
  using F = Texture::Format;
  if (t.format == F::kF16 || t.format == F::kF32) return true;
  return !t.reads_as_integer && t.format != F::kU32 && t.format != F::kS32;
}

// A channel as a number: what filtering works on.
float channel_as_float(const Texture& t, const std::byte* p) {
  using F = Texture::Format;
  const auto read = [p]<class T>(T) {
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
  };
  switch (t.format) {
    case F::kU8: return static_cast<float>(read(std::uint8_t())) / 255.f;
    case F::kS8: return std::max(static_cast<float>(read(std::int8_t())) / 127.f, -1.f);
    case F::kU16: return static_cast<float>(read(std::uint16_t())) / 65535.f;
    case F::kS16: return std::max(static_cast<float>(read(std::int16_t())) / 32767.f, -1.f);
    case F::kF16: return half_to_float(read(std::uint16_t()));
    default: return read(float());
  }
}
std::uint32_t channel_as_integer(const Texture& t, const std::byte* p) {
  using F = Texture::Format;
  const auto read = [p]<class T>(T) {
    T value;
    std::memcpy(&value, p, sizeof value);
    return static_cast<std::uint32_t>(value);
  };
  switch (t.format) {
    case F::kU8: return read(std::uint8_t());
    case F::kS8: return read(std::int8_t());
    case F::kU16: return read(std::uint16_t());
    case F::kS16: return read(std::int16_t());
    default: return read(std::uint32_t());
  }
}
std::size_t channel_bytes(Texture::Format format) {
  using F = Texture::Format;
  switch (format) {
    case F::kU8:
    case F::kS8: return 1;
    case F::kU16:
    case F::kS16:
    case F::kF16: return 2;
    default: return 4;
  }
}

// An index inside [0, size), or -1 for the border.
std::int64_t place(std::int64_t index, std::uint32_t size, Texture::Address mode, bool normalized) {
  const auto n = static_cast<std::int64_t>(size);
  if (index >= 0 && index < n) return index;
  if (mode == Texture::kBorder) return -1;
  if (mode == Texture::kWrap && normalized) return (index % n + n) % n;
  if (mode == Texture::kMirror && normalized) {
    const std::int64_t at = (index % (2 * n) + 2 * n) % (2 * n);
    return at < n ? at : 2 * n - 1 - at;
  }
  return std::clamp<std::int64_t>(index, 0, n - 1);
}

struct Texel {
  const std::byte* data = nullptr;  ///< null: border
};

Texel texel_at(const Texture& t, unsigned dimensions, const std::int64_t (&index)[3], std::uint32_t layer) {
  const std::uint32_t sizes[3] = {t.width, t.height, t.depth};
  std::int64_t at[3] = {0, 0, 0};
  for (unsigned d = 0; d < dimensions; ++d) {
    at[d] = t.is_linear_memory && (index[d] < 0 || index[d] >= static_cast<std::int64_t>(sizes[d]))
                ? -1
                : place(index[d], sizes[d], t.address[d], t.is_normalized);
    if (at[d] < 0) return {};
  }
  const std::size_t z = dimensions == 3 ? static_cast<std::size_t>(at[2]) : layer;
  return {reinterpret_cast<const std::byte*>(t.data) + z * t.slice + static_cast<std::size_t>(at[1]) * t.pitch +
          static_cast<std::size_t>(at[0]) * t.texel_bytes()};
}

void put_texel(const Texture& t, const Texel& texel, std::uint32_t* out) {
  const std::size_t bytes = channel_bytes(t.format);
  for (unsigned c = 0; c < 4; ++c) {
    if (gives_float(t)) {
      const float value = c >= t.channels      ? 0.f
                          : texel.data         ? channel_as_float(t, texel.data + c * bytes)
                          : t.is_linear_memory ? 0.f
                                               : t.border[c];
      out[c] = std::bit_cast<std::uint32_t>(value);
    } else {
      out[c] = c < t.channels && texel.data ? channel_as_integer(t, texel.data + c * bytes) : 0;
    }
  }
}

void sample(const Texture& t, const Form& form, const std::uint32_t* in, std::uint32_t* out) {
  if (form.is_cube) refuse(ErrorCode::kNotSupported, "texture instruction on a cubemap: not there yet");
  const std::uint32_t layer = form.is_array ? std::min(*in++, t.depth - 1) : 0;
  const std::uint32_t sizes[3] = {t.width, t.height, t.depth};
  std::int64_t index[3] = {0, 0, 0};
  float fraction[3] = {0, 0, 0};
  const bool filter = form.has_float_coordinates && (form.kind == kTld4 || (t.is_linear_filter && gives_float(t)));
  for (unsigned d = 0; d < form.dimensions; ++d) {
    if (!form.has_float_coordinates) {
      index[d] = static_cast<std::int32_t>(in[d]);
      continue;
    }
    float x = std::bit_cast<float>(in[d]);
    if (t.is_normalized) x *= static_cast<float>(sizes[d]);
    if (filter) x -= 0.5f;
    if (!(std::fabs(x) < 1e9f)) x = x > 0 ? 1e9f : -1e9f;  // infinities, and NaN to one side
    const float whole = std::floor(x);
    index[d] = static_cast<std::int64_t>(whole);
    fraction[d] = std::floor((x - whole) * 256.f + 0.5f) / 256.f;
  }
  if (form.kind == kTld4) {
    // Counter-clockwise from the lower left, as the PTX manual says.
    static constexpr int kOffsets[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    for (unsigned i = 0; i < 4; ++i) {
      const std::int64_t at[3] = {index[0] + kOffsets[i][0], index[1] + kOffsets[i][1], 0};
      std::uint32_t texel[4];
      put_texel(t, texel_at(t, 2, at, layer), texel);
      out[i] = texel[form.components & 3];
    }
    return;
  }
  if (!filter) return put_texel(t, texel_at(t, form.dimensions, index, layer), out);
  float sum[4] = {0, 0, 0, 0};
  for (unsigned corner = 0; corner < 1u << form.dimensions; ++corner) {
    std::int64_t at[3] = {index[0], index[1], index[2]};
    float weight = 1;
    for (unsigned d = 0; d < form.dimensions; ++d) {
      const bool upper = corner >> d & 1;
      at[d] += upper;
      weight *= upper ? fraction[d] : 1.f - fraction[d];
    }
    if (weight == 0) continue;
    std::uint32_t texel[4];
    put_texel(t, texel_at(t, form.dimensions, at, layer), texel);
    for (unsigned c = 0; c < 4; ++c) sum[c] += weight * std::bit_cast<float>(texel[c]);
  }
  for (unsigned c = 0; c < 4; ++c) out[c] = std::bit_cast<std::uint32_t>(sum[c]);
}

void access_surface(const Texture& t, const Form& form, const std::uint32_t* in, std::uint32_t* out) {
  const std::uint32_t layer = form.is_array ? *in++ : 0;
  const std::size_t bytes = static_cast<std::size_t>(form.result_bytes) * std::max(form.components, 1u);
  // The first coordinate counts bytes, the others rows and slices.
  std::int64_t at[3] = {0, 0, static_cast<std::int64_t>(layer)};
  for (unsigned d = 0; d < form.dimensions; ++d) at[d] = static_cast<std::int32_t>(in[d]);
  const std::int64_t limits[3] = {
      static_cast<std::int64_t>(t.width * t.texel_bytes()) - static_cast<std::int64_t>(bytes),
      static_cast<std::int64_t>(t.height) - 1, static_cast<std::int64_t>(t.depth) - 1};
  for (int d = 0; d < 3; ++d) {
    if (at[d] >= 0 && at[d] <= limits[d]) continue;
    if (form.clamp == 0) refuse(ErrorCode::kIllegalAddress, "surface access outside the surface");
    if (form.clamp == 1) {
      at[d] = std::clamp<std::int64_t>(at[d], 0, std::max<std::int64_t>(limits[d], 0));
      continue;
    }
    if (form.kind == kSurfaceLoad) std::fill(out, out + 4, 0u);
    return;
  }
  auto* const address = reinterpret_cast<std::byte*>(t.data) + static_cast<std::size_t>(at[2]) * t.slice +
                        static_cast<std::size_t>(at[1]) * t.pitch + static_cast<std::size_t>(at[0]);
  // Elements travel as 32-bit values: narrow ones zero-extended, 64-bit ones as two.
  const std::uint32_t* const data = in + form.dimensions;
  const std::size_t step = std::min<std::size_t>(form.result_bytes, 4);
  if (step == 0) return;
  for (std::size_t i = 0; i * step < bytes && i < 4; ++i) {
    if (form.kind == kSurfaceStore) {
      std::memcpy(address + i * step, &data[i], step);
    } else {
      out[i] = 0;
      std::memcpy(&out[i], address + i * step, step);
    }
  }
}

std::uint32_t query(const Texture& t, unsigned what) {
  switch (what) {
    case 0: return t.width;
    case 1: return t.height;
    case 2:
    case 8: return t.depth;
    case 5: return t.is_normalized;
    case 6:
    case 7: return 1;
    default: refuse(ErrorCode::kNotSupported, "texture query that is not there yet");
  }
}

}  // namespace

std::size_t Texture::texel_bytes() const { return channel_bytes(format) * channels; }

void sample_texture(const LaunchContext*, std::uint64_t handle, std::uint64_t form_bits, const std::uint32_t* in,
                    std::uint32_t* out) {
  const auto* const texture = reinterpret_cast<const Texture*>(handle);
  if (handle == 0 || handle % alignof(Texture) != 0 || texture->magic != Texture::kMagic)
    refuse(ErrorCode::kIllegalAddress, "texture instruction on what is no texture or surface object");
  const Form form = unpack(form_bits);
  switch (form.kind) {
    case kSurfaceLoad:
    case kSurfaceStore: return access_surface(*texture, form, in, out);
    case kQuery: out[0] = query(*texture, form.query); return;
    default: return sample(*texture, form, in, out);
  }
}

}  // namespace heddle::exec

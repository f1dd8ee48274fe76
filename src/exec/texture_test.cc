#include "exec/texture.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "exec/fault.h"

namespace heddle::exec {
namespace {

constexpr std::uint64_t kTex2d = 2u << 4 | 4u << 8 | 1u << 16;  // tex.2d.v4.f32.f32
constexpr std::uint64_t kFetch1d = 1u << 4 | 4u << 8;           // tex.1d.v4.f32.s32

struct Sampled {
  float x, y, z, w;
};
Sampled fetch(const Texture& t, std::uint64_t form, float x, float y = 0) {
  const std::uint32_t in[2] = {std::bit_cast<std::uint32_t>(x), std::bit_cast<std::uint32_t>(y)};
  std::uint32_t out[4] = {};
  sample_texture(nullptr, reinterpret_cast<std::uint64_t>(&t), form, in, out);
  return std::bit_cast<Sampled>(out);
}

class TextureTest : public ::testing::Test {
 protected:
  TextureTest() {
    texture.data = reinterpret_cast<std::uintptr_t>(values);
    texture.width = 4;
    texture.height = 2;
    texture.pitch = 16;
    texture.slice = 32;
  }
  float values[8] = {0, 1, 2, 3, 10, 11, 12, 13};
  Texture texture;
};

TEST_F(TextureTest, point_takes_the_texel_that_contains_the_coordinate) {
  EXPECT_EQ(fetch(texture, kTex2d, 1.0f, 0.5f).x, 1);
  EXPECT_EQ(fetch(texture, kTex2d, 1.99f, 1.0f).x, 11);
  EXPECT_EQ(fetch(texture, kTex2d, -5.f, 9.f).x, 10);  // clamp
  texture.address[0] = texture.address[1] = Texture::kBorder;
  texture.border[0] = 7;
  EXPECT_EQ(fetch(texture, kTex2d, -0.1f, 0.f).x, 7);
}

TEST_F(TextureTest, linear_weighs_the_neighbours) {
  // The programming guide: tex(x, y) with texel centres at i + 0.5.
  texture.is_linear_filter = true;
  EXPECT_EQ(fetch(texture, kTex2d, 1.5f, 0.5f).x, 1);
  EXPECT_EQ(fetch(texture, kTex2d, 2.0f, 0.5f).x, 1.5f);
  EXPECT_EQ(fetch(texture, kTex2d, 2.0f, 1.0f).x, 6.5f);
  EXPECT_EQ(fetch(texture, kTex2d, 0.0f, 0.5f).x, 0);
}

TEST_F(TextureTest, normalized_coordinates_wrap_and_mirror) {
  texture.is_normalized = true;
  texture.address[0] = Texture::kWrap;
  EXPECT_EQ(fetch(texture, kTex2d, 0.25f + 3.f, 0.f).x, 1);
  EXPECT_EQ(fetch(texture, kTex2d, -0.25f, 0.f).x, 3);
  texture.address[0] = Texture::kMirror;
  EXPECT_EQ(fetch(texture, kTex2d, -0.25f + 0.01f, 0.f).x, 0);
  EXPECT_EQ(fetch(texture, kTex2d, 1.3f, 0.f).x, 2);
}

TEST_F(TextureTest, integers_are_promoted_unless_asked_for) {
  const std::uint8_t bytes[4] = {0, 51, 102, 255};
  texture.data = reinterpret_cast<std::uintptr_t>(bytes);
  texture.format = Texture::Format::kU8;
  texture.is_linear_memory = true;
  texture.height = 1;
  const auto at = [&](std::uint32_t i) {
    std::uint32_t out[4] = {};
    sample_texture(nullptr, reinterpret_cast<std::uint64_t>(&texture), kFetch1d, &i, out);
    return out[0];
  };
  EXPECT_FLOAT_EQ(std::bit_cast<float>(at(1)), 0.2f);
  EXPECT_EQ(std::bit_cast<float>(at(4)), 0);  // past the end
  texture.reads_as_integer = true;
  EXPECT_EQ(at(3), 255u);
}

TEST_F(TextureTest, what_is_no_texture_is_a_fault) {
  std::uint64_t nonsense[16] = {};
  GuardedRegion region;
  EXPECT_FALSE(run_guarded(region, [&] {
    std::uint32_t in[2] = {}, out[4];
    sample_texture(nullptr, reinterpret_cast<std::uint64_t>(nonsense), kTex2d, in, out);
  }));
  EXPECT_EQ(region.fault.code, ErrorCode::kIllegalAddress);
}

}  // namespace
}  // namespace heddle::exec

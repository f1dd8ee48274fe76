#include "fatbin/compression.h"

#include <lz4.h>
#include <zstd.h>

#include <climits>

namespace heddle::fatbin {
namespace {

// What the formats can reach at most: LZ4 encodes up to 255 bytes per byte of a length, a Zstandard block of 4 bytes
// may repeat one byte 128 Ki times.
constexpr std::uint64_t kMaxRatioLz4 = 256;
constexpr std::uint64_t kMaxRatioZstd = 1 << 16;

}  // namespace

Result<std::string> decompress(Bytes data, Compression compression, std::uint64_t full_size) {
  const char* source = reinterpret_cast<const char*>(data.data());
  if (compression == Compression::kStored) return std::string(source, data.size());
  const std::uint64_t ratio = compression == Compression::kLz4 ? kMaxRatioLz4 : kMaxRatioZstd;
  if (full_size > INT_MAX || data.size() > INT_MAX || full_size > data.size() * ratio) {
    return Status(ErrorCode::kInvalidImage, "fatbin entry: impossible uncompressed size");
  }
  std::string text(full_size, '\0');
  if (compression == Compression::kLz4) {
    const int written =
        LZ4_decompress_safe(source, text.data(), static_cast<int>(data.size()), static_cast<int>(full_size));
    if (written < 0 || static_cast<std::uint64_t>(written) != full_size) {
      return Status(ErrorCode::kInvalidImage, "fatbin entry: corrupt LZ4 data");
    }
    return text;
  }
  const std::size_t written = ZSTD_decompress(text.data(), text.size(), source, data.size());
  if (ZSTD_isError(written) || written != full_size) {
    return Status(ErrorCode::kInvalidImage, "fatbin entry: corrupt Zstandard data");
  }
  return text;
}

Result<std::string> compress(std::string_view data, Compression compression) {
  if (compression == Compression::kStored) return std::string(data);
  if (data.size() > LZ4_MAX_INPUT_SIZE) return Status(ErrorCode::kInvalidValue, "image too large to compress");
  if (compression == Compression::kLz4) {
    std::string out(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(data.size()))), '\0');
    const int written =
        LZ4_compress_default(data.data(), out.data(), static_cast<int>(data.size()), static_cast<int>(out.size()));
    if (written <= 0) return Status(ErrorCode::kUnknown, "LZ4 compression failed");
    out.resize(static_cast<std::size_t>(written));
    return out;
  }
  std::string out(ZSTD_compressBound(data.size()), '\0');
  const std::size_t written = ZSTD_compress(out.data(), out.size(), data.data(), data.size(), ZSTD_CLEVEL_DEFAULT);
  if (ZSTD_isError(written)) return Status(ErrorCode::kUnknown, "Zstandard compression failed");
  out.resize(written);
  return out;
}

}  // namespace heddle::fatbin

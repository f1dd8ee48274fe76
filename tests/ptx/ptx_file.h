// The form of the files in tests/ptx: one kernel as PTX text, below comments that say how to run it and what comes out.
//
//   // run: NAME grid X[,Y,Z] block X[,Y,Z] [shared BYTES] [cooperative]
//   // in a: u32                 a buffer of values; the kernel gets its address
//   //   0000000a 0000000b       hexadecimal bits, as wide as the type
//   // inout a: u32 exact        the same, compared afterwards
//   // out d: f32 96 ulp 2       96 zeroed elements, compared by the rule: exact, ulp N, abs E (both: either is enough)
//   // scalar n: u32 00000005    a parameter by value
//   // unsupported: WHY                                         compiling must fail, or the run with "not supported"
//   // values: recorded: NVIDIA H200, driver 580.159.04       where the wanted values come from
//   // want d:
//   //   0000000a 0000000b
//
// `flush` in a rule: a result that only rounding lifts to the smallest normal number may be flushed to zero or not.
// Parameters are passed in the order of these lines. A NaN equals any NaN where the rule is not `exact`, and for f64.
// Shared by the tests (ptx_files_test.cc) and the recorder (record.cc), so it needs nothing but the standard library.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace ptx_file {

struct Buffer {
  enum class Kind { kIn, kOut, kInOut, kScalar };
  Kind kind = Kind::kIn;
  std::string name, type;
  std::size_t count = 0;
  std::vector<std::uint64_t> values;  ///< initial ones
  bool exact = true, flush = false;
  double ulp = -1, absolute = -1;   ///< < 0: not allowed
  std::vector<std::uint64_t> want;  ///< empty: not recorded yet
  bool is_output() const { return kind == Kind::kOut || kind == Kind::kInOut; }
};

struct File {
  std::string path, kernel, text, unsupported, source;  ///< source: of the wanted values
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  unsigned shared = 0;
  bool cooperative = false;
  std::vector<Buffer> buffers;
  std::string error;  ///< not empty: the file is malformed
};

inline std::size_t size_of(const std::string& type) {
  const std::string digits = type.substr(type.find_first_of("0123456789"));
  if (type == "f16x2" || type == "bf16x2" || type == "u16x2") return 4;
  return static_cast<std::size_t>(std::atoi(digits.c_str())) / 8;
}

inline void parse_dims(const std::string& text, unsigned* dims) {
  std::stringstream in(text);
  std::string part;
  for (int i = 0; i < 3 && std::getline(in, part, ','); ++i) dims[i] = static_cast<unsigned>(std::atoi(part.c_str()));
}

inline File parse(const std::string& path) {
  File file;
  file.path = path;
  std::ifstream in(path);
  std::stringstream all;
  all << in.rdbuf();
  file.text = all.str();
  if (file.text.empty()) file.error = "can't be read, or is empty";
  std::vector<std::uint64_t>* list = nullptr;
  std::stringstream lines(file.text);
  std::string line;
  const auto find = [&](const std::string& name) -> Buffer* {
    for (Buffer& buffer : file.buffers)
      if (buffer.name == name) return &buffer;
    return nullptr;
  };
  while (std::getline(lines, line)) {
    if (line.rfind("//", 0) != 0) continue;
    std::stringstream words(line.substr(2));
    std::string word;
    if (line.rfind("//   ", 0) == 0) {
      while (list && words >> word) list->push_back(std::strtoull(word.c_str(), nullptr, 16));
      continue;
    }
    list = nullptr;
    words >> word;
    if (word == "run:") {
      words >> file.kernel;
      while (words >> word) {
        std::string value;
        if (word == "cooperative") {
          file.cooperative = true;
          continue;
        }
        words >> value;
        if (word == "grid") parse_dims(value, file.grid);
        if (word == "block") parse_dims(value, file.block);
        if (word == "shared") file.shared = static_cast<unsigned>(std::atoi(value.c_str()));
      }
    } else if (word == "unsupported:") {
      std::getline(words, file.unsupported);
    } else if (word == "values:") {
      std::getline(words, file.source);
      file.source.erase(0, file.source.find_first_not_of(' '));
    } else if (word == "want") {
      words >> word;
      Buffer* buffer = find(word.substr(0, word.size() - 1));
      if (!buffer) {
        file.error = "wanted values for unknown buffer " + word;
        return file;
      }
      list = &buffer->want;
    } else if (word == "in" || word == "out" || word == "inout" || word == "scalar") {
      Buffer buffer;
      buffer.kind = word == "in"      ? Buffer::Kind::kIn
                    : word == "out"   ? Buffer::Kind::kOut
                    : word == "inout" ? Buffer::Kind::kInOut
                                      : Buffer::Kind::kScalar;
      words >> buffer.name >> buffer.type;
      if (buffer.name.empty() || buffer.name.back() != ':') continue;  // prose
      buffer.name.pop_back();
      if (buffer.kind == Buffer::Kind::kOut) words >> buffer.count;
      if (buffer.kind == Buffer::Kind::kScalar) {
        words >> word;
        buffer.values.push_back(std::strtoull(word.c_str(), nullptr, 16));
      }
      while (words >> word) {
        if (word == "ulp") words >> buffer.ulp, buffer.exact = false;
        if (word == "flush") buffer.flush = true;
        if (word == "abs") words >> buffer.absolute, buffer.exact = false;
      }
      file.buffers.push_back(buffer);
      list = &file.buffers.back().values;
    }
  }
  if (file.kernel.empty() && file.error.empty()) file.error = "has no run: line";
  for (Buffer& buffer : file.buffers) {
    if (buffer.kind == Buffer::Kind::kIn || buffer.kind == Buffer::Kind::kInOut) buffer.count = buffer.values.size();
    if (!buffer.want.empty() && buffer.want.size() != buffer.count)
      file.error = "buffer " + buffer.name + " has " + std::to_string(buffer.want.size()) + " wanted values, not " +
                   std::to_string(buffer.count);
  }
  return file;
}

/// The buffer's bytes before the run.
inline std::vector<unsigned char> bytes_of(const Buffer& buffer) {
  const std::size_t size = size_of(buffer.type);
  std::vector<unsigned char> bytes(size * buffer.count);
  for (std::size_t i = 0; i < buffer.values.size() && i < buffer.count; ++i)
    std::memcpy(&bytes[i * size], &buffer.values[i], size);
  return bytes;
}

inline double as_double(const std::string& type, std::uint64_t bits) {
  if (type == "f64") {
    double d;
    std::memcpy(&d, &bits, 8);
    return d;
  }
  if (type == "f32" || type == "bf16") {
    auto word = static_cast<std::uint32_t>(type == "bf16" ? bits << 16 : bits);
    float f;
    std::memcpy(&f, &word, 4);
    return f;
  }
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double mantissa = static_cast<double>(bits & 1023);
  double value = exponent == 31  ? (mantissa != 0 ? NAN : INFINITY)
                 : exponent == 0 ? std::ldexp(mantissa, -24)
                                 : std::ldexp(mantissa + 1024, exponent - 25);
  return bits & 0x8000 ? -value : value;
}

inline bool equal(const Buffer& buffer, std::uint64_t want, std::uint64_t have) {
  if (want == have) return true;
  if (!buffer.exact && (buffer.type == "f16x2" || buffer.type == "bf16x2")) {
    Buffer half = buffer;
    half.type = buffer.type.substr(0, buffer.type.size() - 2);
    return equal(half, want & 0xffff, have & 0xffff) && equal(half, want >> 16, have >> 16);
  }
  const bool is_float = buffer.type == "f16" || buffer.type == "bf16" || buffer.type == "f32" || buffer.type == "f64";
  if (!is_float) return false;
  if (buffer.exact && buffer.type != "f64") return false;
  const double w = as_double(buffer.type, want), h = as_double(buffer.type, have);
  if (std::isnan(w) || std::isnan(h)) return std::isnan(w) && std::isnan(h);
  if (buffer.exact) return false;
  if (buffer.absolute >= 0 && std::fabs(w - h) <= buffer.absolute) return true;
  if (buffer.flush && buffer.type == "f32" && std::fabs(w) + std::fabs(h) == 0x1p-126 &&
      std::signbit(w) == std::signbit(h))
    return true;
  if (buffer.ulp < 0 || std::signbit(w) != std::signbit(h)) return false;
  // Bits of equal sign are ordered as the values are.
  const double distance = want > have ? static_cast<double>(want - have) : static_cast<double>(have - want);
  return distance <= buffer.ulp;
}

inline std::string hex(const std::string& type, std::uint64_t bits) {
  char text[24];
  std::snprintf(text, sizeof text, "%0*llx", static_cast<int>(size_of(type) * 2),
                static_cast<unsigned long long>(bits));
  return text;
}

}  // namespace ptx_file

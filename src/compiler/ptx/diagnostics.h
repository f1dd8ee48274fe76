// Messages about a PTX text: "ptx:12:7: error: unknown instruction 'foo.bar'", the line, and a caret below the place.
// Tested by ptx/parser_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error_code.h"

namespace heddle::ptx {

class Diagnostics {
 public:
  /// `text` must outlive this object, and is what the offsets point into.
  Diagnostics(std::string_view unit, std::string_view text, std::string* log) : unit_(unit), text_(text), log_(log) {}

  void error(std::uint32_t offset, const std::string& message, ErrorCode code = ErrorCode::kInvalidPtx);
  bool failed() const { return count_ != 0; }
  bool full() const { return count_ >= kMost; }
  ErrorCode code() const { return code_; }

 private:
  static constexpr int kMost = 20;  ///< later messages are rarely news
  std::string_view unit_, text_;
  std::string* log_;
  int count_ = 0;
  ErrorCode code_ = ErrorCode::kSuccess;
};

}  // namespace heddle::ptx

#include "compiler/ptx/diagnostics.h"

#include <algorithm>

namespace heddle::ptx {

void Diagnostics::error(std::uint32_t offset, const std::string& message, ErrorCode code) {
  if (++count_ > kMost) return;
  if (count_ == 1) code_ = code;
  if (log_ == nullptr) return;
  const std::size_t at = std::min<std::size_t>(offset, text_.size());
  const std::size_t newline = at == 0 ? std::string_view::npos : text_.rfind('\n', at - 1);
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  const std::size_t end = std::min(text_.find('\n', at), text_.size());
  const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
  *log_ += std::string(unit_) + ":" + std::to_string(line) + ":" + std::to_string(at - begin + 1) +
           ": error: " + message + "\n";
  // A line of a megabyte (one exists: a table) is cut around the place.
  const std::size_t from = at - begin > 160 ? at - 80 : begin;
  std::string shown(text_.substr(from, std::min<std::size_t>(end - from, 200)));
  std::string caret;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    unsigned char c = static_cast<unsigned char>(shown[i]);
    if (i < at - from) caret += c == '\t' ? '\t' : ' ';
    if (c != '\t' && (c < 32 || c == 127)) shown[i] = ' ';
  }
  caret.resize(at - from, ' ');
  *log_ += "  " + shown + "\n  " + caret + "^\n";
}

}  // namespace heddle::ptx

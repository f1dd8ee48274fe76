#include "compiler/ptx/lexer.h"

#include <array>

namespace heddle::ptx {
namespace {

enum : std::uint8_t { kSpace = 1, kStart = 2, kPart = 4, kDigit = 8 };

constexpr std::array<std::uint8_t, 256> kClasses = [] {
  std::array<std::uint8_t, 256> t{};
  for (char c : {' ', '\t', '\r', '\f', '\v'}) t[static_cast<unsigned char>(c)] = kSpace;
  for (int c = 'a'; c <= 'z'; ++c) t[c] = t[c - 32] = kStart | kPart;
  for (int c = '0'; c <= '9'; ++c) t[c] = kPart | kDigit;
  t['_'] = t['$'] = kStart | kPart;
  t['%'] = kStart;
  return t;
}();

std::uint8_t class_of(char c) { return kClasses[static_cast<unsigned char>(c)]; }

}  // namespace

bool is_identifier_start(char c) { return class_of(c) & kStart; }
bool is_identifier_char(char c) { return class_of(c) & kPart; }

void Lexer::skip_space() {
  while (at_ < text_.size()) {
    char c = text_[at_];
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (class_of(c) & kSpace) {
      ++at_;
    } else if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '/') {
      at_ = text_.find('\n', at_);
      if (at_ == std::string_view::npos) at_ = text_.size();
    } else if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '*') {
      std::size_t end = text_.find("*/", at_ + 2);
      end = end == std::string_view::npos ? text_.size() : end + 2;
      for (; at_ < end; ++at_) line_ += text_[at_] == '\n';
    } else if (c == '\0' && at_ + 1 == text_.size()) {
      ++at_;  // a terminator that was counted as text
    } else {
      return;
    }
  }
}

void Lexer::advance() {
  skip_space();
  token_.offset = static_cast<std::uint32_t>(at_);
  token_.line = line_;
  const std::size_t begin = at_;
  if (at_ >= text_.size()) {
    token_.kind = Token::Kind::kEnd;
    token_.text = {};
    return;
  }
  const char c = text_[at_];
  auto next = [&](std::size_t n) { return at_ + n < text_.size() ? text_[at_ + n] : '\0'; };
  // A lone % is the remainder operator of constant expressions.
  if ((class_of(c) & kStart) && (c != '%' || (class_of(next(1)) & kPart))) {
    token_.kind = Token::Kind::kName;
    for (++at_; at_ < text_.size() && (class_of(text_[at_]) & kPart);) ++at_;
  } else if (class_of(c) & kDigit) {
    token_.kind = Token::Kind::kNumber;
    const bool is_hex_like = c == '0' && (next(1) == 'x' || next(1) == 'X' || next(1) == 'f' || next(1) == 'F' ||
                                          next(1) == 'd' || next(1) == 'D' || next(1) == 'b' || next(1) == 'B');
    for (++at_; at_ < text_.size(); ++at_) {
      char d = text_[at_];
      if ((class_of(d) & kPart) && d != '$') continue;
      // Decimal floating point: 1.5, 1.e3, 2e-4; hexadecimal never has these.
      if (!is_hex_like && d == '.' &&
          !(at_ + 1 < text_.size() && (class_of(text_[at_ + 1]) & kStart) && text_[at_ + 1] != 'e' &&
            text_[at_ + 1] != 'E'))
        continue;
      if (!is_hex_like && (d == '+' || d == '-') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E')) continue;
      break;
    }
  } else if (c == '.' && (class_of(next(1)) & kPart)) {
    token_.kind = Token::Kind::kDotName;
    for (++at_; at_ < text_.size(); ++at_) {
      if (class_of(text_[at_]) & kPart) continue;
      if (text_[at_] == ':' && next(1) == ':' && (class_of(next(2)) & kPart)) {
        ++at_;
        continue;
      }
      break;
    }
  } else if (c == '"') {
    token_.kind = Token::Kind::kString;
    for (++at_; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_)
      if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
    if (at_ < text_.size() && text_[at_] == '"') {
      token_.text = text_.substr(begin + 1, at_ - begin - 1);
      ++at_;
    } else {
      token_.kind = Token::Kind::kBad;
      token_.text = text_.substr(begin, 1);
    }
    return;
  } else {
    static constexpr std::string_view kTwo[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    static constexpr std::string_view kOne = "{}[]()<>,;:@!=+-*/%&|^~?";
    token_.kind = kOne.find(c) == std::string_view::npos ? Token::Kind::kBad : Token::Kind::kPunctuation;
    ++at_;
    for (std::string_view two : kTwo)
      if (text_.substr(begin, 2) == two) at_ = begin + 2;
  }
  token_.text = text_.substr(begin, at_ - begin);
}

Token Lexer::take_mnemonic() {
  Token t = token_;
  while (at_ < text_.size()) {
    char c = text_[at_];
    char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if ((class_of(c) & kPart) || (c == '.' && (class_of(next) & kPart))) {
      ++at_;
    } else if (c == ':' && next == ':' && at_ + 2 < text_.size() && (class_of(text_[at_ + 2]) & kPart)) {
      at_ += 2;
    } else {
      break;
    }
  }
  t.text = text_.substr(t.offset, at_ - t.offset);
  advance();
  return t;
}

void Lexer::skip_braces() {
  int depth = 0;
  // The current token is the first `{`; the rest is searched as text, strings included.
  std::size_t i = token_.offset;
  for (; i < text_.size(); ++i) {
    if (text_[i] == '\n') ++line_;
    if (text_[i] == '{') ++depth;
    if (text_[i] == '}' && --depth == 0) {
      ++i;
      break;
    }
  }
  at_ = i;
  advance();
}

}  // namespace heddle::ptx

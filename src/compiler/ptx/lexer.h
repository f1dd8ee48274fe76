// PTX text to tokens. The parser asks for the whole dotted mnemonic at once (take_mnemonic), because most of a module
// is instructions and most of those repeat a few hundred spellings. Never fails: a character that starts nothing is a
// token of kind kBad. Tested by ptx/parser_test.cc.
#pragma once

#include <cstdint>
#include <string_view>

namespace heddle::ptx {

struct Token {
  enum class Kind : std::uint8_t { kEnd, kName, kDotName, kNumber, kString, kPunctuation, kBad };
  Kind kind = Kind::kEnd;
  std::string_view text;  ///< kString: without the quotes
  std::uint32_t offset = 0;
  std::uint32_t line = 1;
  bool is(char c) const { return kind == Kind::kPunctuation && text[0] == c && text.size() == 1; }
  bool is(std::string_view s) const {
    return (kind == Kind::kPunctuation || kind == Kind::kDotName || kind == Kind::kName) && text == s;
  }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

  const Token& peek() const { return token_; }
  Token take() {
    Token t = token_;
    advance();
    return t;
  }
  /// With a name as the current token: the name and all dotted words that follow without a space, as one token.
  Token take_mnemonic();
  /// Skips a balanced `{ ... }` whose `{` is the current token, without looking at what is inside (DWARF).
  void skip_braces();

 private:
  void advance();
  void skip_space();

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  Token token_;
};

bool is_identifier_start(char c);
bool is_identifier_char(char c);

}  // namespace heddle::ptx

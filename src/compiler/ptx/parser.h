// PTX text to syntax tree: recursive descent, one pass. Names are resolved as they are met (PTX declares before use;
// only labels may come later). Errors go to `log` with line, column and caret, and parsing goes on with the next
// statement, so that one run tells as much as it can. Never crashes or recurses deeply on bad input. Tested by
// ptx/parser_test.cc.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "compiler/ptx/ast.h"

namespace heddle::ptx {

inline constexpr std::uint32_t kNewestVersion = 90;

/// `unit` is what messages call the text. Errors: kInvalidPtx, kUnsupportedPtxVersion.
Result<std::unique_ptr<const Module>> parse_ptx(std::string_view text, std::string_view unit, std::string* log);

}  // namespace heddle::ptx

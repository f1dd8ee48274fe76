// The PTX instruction set as data: isa.def's rows, and the matching of a written mnemonic ("ld.global.v4.f32") to one.
//
// A row is a form in the notation of the PTX manual: `{.x}` may be left out, `.(x|y)` is one of several words. Words
// may come in any order, except that types keep theirs (compilers and inline assembly disagree on the rest:
// vote.sync.any, vote.any.sync). A row that doesn't parse, or has a word that modifiers.def lacks, is a compile error
// (isa.cc). Tested by ptx/isa_test.cc.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace heddle::ptx {

/// A dotted word. The types come first, so that Modifier doubles as the type of registers and variables.
enum class Modifier : std::uint16_t {
#define HEDDLE_PTX_TYPE(identifier, text, bits) k##identifier,
#include "compiler/ptx/modifiers.def"
#undef HEDDLE_PTX_TYPE
#define HEDDLE_PTX_MODIFIER(identifier, text) k##identifier,
#include "compiler/ptx/modifiers.def"
#undef HEDDLE_PTX_MODIFIER
  kCount,
  kNone = 0xffff
};
using Type = Modifier;

std::string_view text_of(Modifier modifier);
/// kNone if there is no such word.
Modifier find_modifier(std::string_view text);
bool is_type(Modifier modifier);
/// Size in memory in bits; 1 for predicates.
int bits_of(Type type);

/// The first word of an instruction; rows with the same one share it.
enum class Opcode : std::uint16_t {
#define HEDDLE_PTX_OPCODE(identifier) k##identifier,
#include "compiler/ptx/opcodes.def"
#undef HEDDLE_PTX_OPCODE
};

/// What an operand position takes.
struct OperandRule {
  enum class Kind : std::uint8_t {
    kDestination,  ///< d: a register, a vector of them, or `_`
    kPair,         ///< d|p
    kValue,        ///< a, b, c ...: a register, constant, special register, symbol or vector
    kAddress,      ///< [a]
    kLabel,        ///< L
    kCallee,       ///< F: all that follows call: results, function or register, arguments, prototype
  };
  Kind kind = Kind::kValue;
  bool optional = false;
};

struct Form {
  std::string_view text;  ///< the row as written
  std::string_view name;  ///< "ld"
  Opcode opcode;
  int version = 10;  ///< first PTX version, times ten
  int target = 0;    ///< first sm_NN
  struct Group {
    std::bitset<static_cast<std::size_t>(Modifier::kCount)> words;
    bool optional = false;
  };
  std::vector<Group> groups;
  std::vector<OperandRule> operands;
  int min_operands = 0;
};

/// A mnemonic as written, decoded once per distinct spelling.
struct Mnemonic {
  std::string_view text;           ///< points into the PTX text
  std::vector<const Form*> forms;  ///< those that the words fit; they differ in their operands
  std::bitset<static_cast<std::size_t>(Modifier::kCount)> modifiers;
  std::array<Type, 4> types = {Modifier::kNone, Modifier::kNone, Modifier::kNone, Modifier::kNone};  ///< in order
  int type_count = 0;
  std::vector<Modifier> words;  ///< in order
  bool has(Modifier modifier) const { return modifiers[static_cast<std::size_t>(modifier)]; }
  /// The first of `candidates` that is there, or kNone.
  Modifier first_of(std::initializer_list<Modifier> candidates) const {
    for (Modifier m : candidates)
      if (has(m)) return m;
    return Modifier::kNone;
  }
};

/// The rows for `text`, or an explanation why there is none: kUnknownName, kUnknownModifier (`word` says which) or
/// kNoForm (the words don't go together).
struct MatchResult {
  enum class Problem : std::uint8_t { kNone, kUnknownName, kUnknownModifier, kNoForm };
  Problem problem = Problem::kNone;
  std::string_view word;
};
MatchResult match_mnemonic(std::string_view text, Mnemonic* mnemonic);

const std::vector<Form>& all_forms();

}  // namespace heddle::ptx

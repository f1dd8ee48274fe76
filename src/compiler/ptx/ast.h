// The syntax tree of one PTX text. Names point into the text, which the Module owns; registers, labels and variables of
// a function are resolved to numbers while parsing, names of module scope stay names (they may be another unit's).
// Operands of all instructions of a function lie in one array. Built by parser.h, printed by printer.h.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ptx/isa.h"

namespace heddle::ptx {

enum class Space : std::uint8_t { kRegister, kGlobal, kConst, kShared, kLocal, kParam };
enum class Linkage : std::uint8_t { kNone, kVisible, kExtern, kWeak, kCommon };

/// Special registers; x, y, z, w are Operand::component.
enum class SpecialRegister : std::uint8_t {
#define HEDDLE_PTX_SPECIAL(identifier, text) k##identifier,
#include "compiler/ptx/special_registers.def"
#undef HEDDLE_PTX_SPECIAL
};
std::string_view text_of(SpecialRegister special);

struct Operand {
  enum class Kind : std::uint8_t {
    kRegister,   ///< id: register; negated: !p, or -r of vmad
    kSpecial,    ///< id: SpecialRegister, component; value: number (%envreg3)
    kInteger,    ///< value
    kFloat32,    ///< value: the bits
    kFloat64,    ///< value: the bits
    kVariable,   ///< id: Function::variables; value: addend
    kName,       ///< text: a name of module scope; value: addend
    kLabel,      ///< id: Function::labels
    kPrototype,  ///< id: Function::prototypes
    kTargets,    ///< id: Function::targets
    kVector,     ///< {a, b}: children
    kAddress,    ///< [base + value, {x, y}]: children[0] is the base, the rest what follows a comma
    kList,       ///< (a, b): children
    kPair,       ///< a|b: two children
    kSink,       ///< _
  };
  Kind kind = Kind::kSink;
  bool negated = false;
  std::uint8_t component = 0xff;  ///< of a vector register or special register: 0..3
  std::uint32_t id = 0;
  std::uint32_t first = 0, count = 0;  ///< children: Function::operands[first, first + count)
  std::uint32_t offset = 0;            ///< into the text
  std::string_view text;
  std::string_view selector;  ///< of video operands: "h1" in %r1.h1, "b3210"
  std::uint64_t value = 0;
};

struct Instruction {
  static constexpr std::uint32_t kNoGuard = ~0u;
  const Mnemonic* mnemonic = nullptr;
  const Form* form = nullptr;
  std::uint32_t guard = kNoGuard;  ///< a register
  bool guard_negated = false;
  std::uint32_t first = 0, count = 0;  ///< operands
  std::uint32_t line = 0, offset = 0;
};

struct InitialValue {
  enum class Kind : std::uint8_t { kInteger, kFloat, kAddress };
  Kind kind = Kind::kInteger;
  bool generic = false;            ///< generic(symbol)
  std::uint8_t mask_shift = 0xff;  ///< 0xFF00(symbol) gives 8
  std::uint64_t element = 0;       ///< index into the flattened array
  std::uint64_t value = 0;         ///< bits (floats: a double's); addend of an address
  std::string_view symbol;
};

struct Variable {
  std::string_view name;
  Space space = Space::kGlobal;
  Linkage linkage = Linkage::kNone;
  Type type = Modifier::kB8;
  std::uint8_t vector = 1;  ///< elements per item: 1, 2, 4
  bool unsized = false;     ///< x[]
  bool is_array = false;
  bool managed = false;
  bool is_pointer = false;                 ///< .ptr on a kernel parameter
  Space pointer_space = Space::kRegister;  ///< kRegister: none given
  std::uint32_t pointer_align = 0;
  std::uint32_t align = 0;  ///< 0: natural
  std::vector<std::uint64_t> dimensions;
  std::vector<InitialValue> initial;
  std::uint32_t line = 0, offset = 0;
  std::uint32_t register_id = 0;  ///< space kRegister (a .reg parameter of a function)
  std::uint64_t elements() const;
  std::uint64_t bytes() const;
  std::uint32_t alignment() const;
};

/// `.reg .b32 %r<100>` (count 100, ranged) or `.reg .pred p` (count 1). A vector register takes `vector` ids.
struct RegisterRange {
  std::string_view name;
  Type type = Modifier::kB32;
  std::uint8_t vector = 1;
  bool ranged = false;
  std::uint32_t first = 0, count = 1;
};

struct Label {
  std::string_view name;
  std::uint32_t offset = 0;
};

struct SourceLocation {
  std::uint32_t file = 0, line = 0, column = 0;
  bool inlined = false;
  std::string_view function_name;
  std::uint32_t function_offset = 0;
  std::uint32_t inlined_file = 0, inlined_line = 0, inlined_column = 0;
};

struct Prototype {
  std::string_view name;
  std::vector<Variable> returns, parameters;
  bool noreturn = false;
};

/// .branchtargets or .calltargets
struct TargetList {
  std::string_view name;
  bool calls = false;
  std::vector<std::uint32_t> labels;        ///< branch targets
  std::vector<std::string_view> functions;  ///< call targets
};

struct Statement {
  enum class Kind : std::uint8_t {
    kInstruction,
    kLabel,
    kScopeBegin,
    kScopeEnd,
    kRegisters,
    kVariable,
    kLocation,
    kPragma,
    kPrototype,
    kTargets
  };
  Kind kind;
  std::uint32_t index;
};

struct Function {
  std::string_view name;
  bool is_entry = false;
  bool has_body = false;
  bool noreturn = false;
  Linkage linkage = Linkage::kNone;
  std::uint32_t line = 0, offset = 0;
  std::vector<std::uint32_t> parameters, returns;  ///< into variables
  std::uint32_t max_threads[3] = {0, 0, 0};
  std::uint32_t required_threads[3] = {0, 0, 0};
  std::uint32_t min_ctas = 0, max_registers = 0;
  std::uint32_t cluster[3] = {0, 0, 0};
  std::uint32_t max_cluster_rank = 0;
  bool explicit_cluster = false;

  std::vector<Variable> variables;
  std::vector<RegisterRange> registers;
  std::uint32_t register_count = 0;
  std::vector<Operand> operands;
  std::vector<Instruction> instructions;
  std::vector<Label> labels;
  std::vector<SourceLocation> locations;
  std::vector<std::string_view> pragmas;
  std::vector<Prototype> prototypes;
  std::vector<TargetList> targets;
  std::vector<Statement> statements;

  const Operand* operands_of(const Instruction& i) const { return operands.data() + i.first; }
  const Operand* children_of(const Operand& o) const { return operands.data() + o.first; }
  /// The declaration that holds register `id`.
  const RegisterRange& range_of(std::uint32_t id) const;
  Type type_of_register(std::uint32_t id) const { return range_of(id).type; }
  std::string name_of_register(std::uint32_t id) const;
};

struct File {
  std::uint32_t number = 0;
  std::string_view name;
};

struct Alias {
  std::string_view name, target;
};

struct Module {
  std::string unit = "ptx";  ///< what diagnostics call the text
  std::string text;
  std::uint32_t version = 0;     ///< 90 for 9.0
  std::uint32_t target = 0;      ///< 90 for sm_90
  std::string_view target_name;  ///< "sm_90a"
  std::vector<std::string_view> target_options;
  std::uint32_t address_size = 64;
  std::vector<File> files;
  std::vector<Alias> aliases;
  std::deque<Variable> variables;
  std::deque<Function> functions;  ///< declarations too
  std::deque<Mnemonic> mnemonics;

  struct Item {
    enum class Kind : std::uint8_t { kVariable, kFunction, kFile, kAlias, kPragma };
    Kind kind;
    std::uint32_t index;
  };
  std::vector<Item> items;  ///< in the text's order
  std::vector<std::string_view> pragmas;
};

}  // namespace heddle::ptx

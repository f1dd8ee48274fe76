// The parser's state, shared by parser.cc (module and directives), parser_body.cc (statements),
// parser_operand.cc and parser_constant.cc (constant expressions, initial values).
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ptx/ast.h"
#include "compiler/ptx/diagnostics.h"
#include "compiler/ptx/lexer.h"

namespace heddle::ptx {

/// A constant expression's value. Integers are 64-bit, signed unless a U suffix or their size says otherwise.
struct Constant {
  enum class Kind : std::uint8_t { kInteger, kFloat32, kFloat64 };
  Kind kind = Kind::kInteger;
  bool is_unsigned = false;
  std::uint64_t bits = 0;
};

class Parser {
 public:
  Parser(Module* module, std::string* log)
      : module_(module), diagnostics_(module->unit, module->text, log), lexer_(module->text) {}
  /// False if there was an error.
  bool parse_module();
  ErrorCode code() const { return diagnostics_.code(); }

 private:
  struct Binding {
    enum class Kind : std::uint8_t { kRegister, kVariable, kPrototype, kTargets };
    Kind kind = Kind::kRegister;
    std::uint32_t id = 0;  // kRegister: index into Function::registers
    std::uint32_t scope = 0;
  };
  using Bindings = std::unordered_map<std::string_view, Binding>;
  struct Undo {
    Bindings* map;
    std::string_view name;
    bool had = false;
    Binding old;
  };
  struct LabelUse {
    std::uint32_t operand;  // into Function::operands, or kInTargets | index of the target list
    std::string_view name;
    std::uint32_t scope, offset;
    std::uint32_t list, index;  // in a target list: which entry
  };
  struct LabelDefinition {
    std::uint32_t scope, label;
  };
  struct ModuleName {
    bool is_function = false;
    std::uint32_t index = 0;
  };

  // parser.cc
  void parse_version();
  void parse_target();
  void parse_file();
  void parse_alias();
  void parse_pragma();
  void parse_linked(Linkage linkage);
  void parse_function(Linkage linkage, bool is_entry);
  bool parse_parameters(std::vector<std::uint32_t>* list);
  bool parse_function_directives();
  bool parse_dimensions(std::uint32_t out[3]);
  /// Everything after the space word: alignment, type, name, dimensions. Initial values only if `may_initialise`.
  bool parse_variable_head(Variable* variable);
  bool parse_declarator(Variable* variable, bool may_initialise);
  bool parse_parameter(Variable* variable);
  void declare_module_variable(Variable variable);
  void declare_function(std::uint32_t index);
  void recover_module();

  // parser_body.cc
  void parse_body();
  void parse_statement();
  void parse_registers();
  void parse_local_variables(Space space, Linkage linkage);
  void parse_location();
  void parse_prototype(const Token& name);
  void parse_targets(const Token& name, bool calls);
  void parse_instruction();

  // parser_operand.cc
  bool parse_operand(bool is_label);
  bool parse_vector_or_list(char open, char close, Operand::Kind kind);
  bool parse_address();
  bool parse_constant_operand(const Token& first, bool negative);
  bool parse_name(bool is_label);
  bool parse_call_operands();
  const Binding* find_range(std::string_view prefix, std::uint32_t number) const;
  bool resolve_name(const Token& token, Operand* operand);
  bool resolve_special(const Token& token, Operand* operand);
  bool select_form(Instruction* instruction);
  const Mnemonic* find_mnemonic(const Token& token);
  void add_registers(const RegisterRange& range, std::uint32_t offset);
  void bind(Bindings* map, std::string_view name, Binding binding, std::uint32_t offset);
  void open_scope();
  void close_scope();
  void resolve_labels();
  void recover_statement();

  // parser_constant.cc
  bool parse_constant(Constant* value) { return parse_binary(value, 0); }
  bool parse_binary(Constant* value, int least);
  bool parse_unary(Constant* value);
  bool negate(Constant* value);
  /// After a minus that is already taken, or from the start.
  bool parse_rest_of_constant(Constant* value, bool negative);
  bool parse_operators(Constant* value, int least);
  bool parse_number(const Token& token, Constant* value);
  bool parse_initial(Variable* variable);
  bool parse_initial_list(Variable* variable, std::size_t depth, std::uint64_t first);
  bool parse_initial_value(Variable* variable, std::uint64_t element);

  // helpers
  const Token& peek() const { return lexer_.peek(); }
  Token take() { return lexer_.take(); }
  bool accept(char c);
  bool accept(std::string_view word);
  bool expect(char c);
  bool take_name(Token* token);
  bool take_integer(std::uint64_t* value, std::uint64_t most);
  bool fail(std::uint32_t offset, const std::string& message, ErrorCode code = ErrorCode::kInvalidPtx);
  bool fail_here(const std::string& message) { return fail(peek().offset, message); }
  static std::string quoted(const Token& token);

  Module* module_;
  Diagnostics diagnostics_;
  Lexer lexer_;
  int depth_ = 0;  // of nested expressions, vectors and lists

  std::unordered_map<std::string_view, const Mnemonic*> mnemonics_;
  std::unordered_map<std::string_view, ModuleName> names_;
  std::vector<std::string_view> initial_names_;  // named in initial values

  // of the function being parsed
  Function* function_ = nullptr;
  Bindings exact_, ranged_;
  std::vector<Undo> undo_;
  std::vector<std::size_t> undo_marks_;
  std::vector<std::uint32_t> scope_stack_;
  std::vector<std::uint32_t> scope_parents_;
  std::vector<LabelUse> label_uses_;
  std::unordered_map<std::string_view, std::vector<LabelDefinition>> label_definitions_;
  std::vector<Operand> scratch_;
};

}  // namespace heddle::ptx

#include "compiler/ptx/parser.h"

#include <charconv>
#include <cstring>

#include "compiler/ptx/parser_impl.h"

namespace heddle::ptx {
namespace {

constexpr std::uint64_t kLargestVariable = std::uint64_t{1} << 40;

Linkage linkage_of(std::string_view word) {
  if (word == ".visible") return Linkage::kVisible;
  if (word == ".extern") return Linkage::kExtern;
  if (word == ".weak") return Linkage::kWeak;
  if (word == ".common") return Linkage::kCommon;
  return Linkage::kNone;
}

bool begins_module_item(const Token& token) {
  static constexpr std::string_view kWords[] = {".visible", ".extern", ".weak",   ".common", ".entry", ".func",
                                                ".global",  ".const",  ".shared", ".file",   ".alias", ".section"};
  if (token.kind != Token::Kind::kDotName) return false;
  for (std::string_view word : kWords)
    if (token.text == word) return true;
  return false;
}

}  // namespace

bool Parser::fail(std::uint32_t offset, const std::string& message, ErrorCode code) {
  diagnostics_.error(offset, message, code);
  return false;
}

std::string Parser::quoted(const Token& token) {
  switch (token.kind) {
    case Token::Kind::kEnd: return "the end of the text";
    case Token::Kind::kString: return "a string";
    case Token::Kind::kBad: {
      unsigned char c = token.text.empty() ? 0 : static_cast<unsigned char>(token.text[0]);
      if (c == '"') return "an unfinished string";
      if (c < 32 || c > 126) return "a character that is not text (code " + std::to_string(c) + ")";
      break;
    }
    default: break;
  }
  return "'" + std::string(token.text.substr(0, 80)) + "'";
}

bool Parser::accept(char c) {
  if (!peek().is(c)) return false;
  take();
  return true;
}
bool Parser::accept(std::string_view word) {
  if (!peek().is(word)) return false;
  take();
  return true;
}
bool Parser::expect(char c) {
  if (accept(c)) return true;
  return fail_here(std::string("expected '") + c + "', found " + quoted(peek()));
}
bool Parser::take_name(Token* token) {
  if (peek().kind != Token::Kind::kName) return fail_here("expected a name, found " + quoted(peek()));
  *token = take();
  return true;
}
bool Parser::take_integer(std::uint64_t* value, std::uint64_t most) {
  const std::uint32_t offset = peek().offset;
  Constant c;
  if (!parse_constant(&c)) return false;
  if (c.kind != Constant::Kind::kInteger || c.bits > most)
    return fail(offset, "expected an integer from 0 to " + std::to_string(most));
  *value = c.bits;
  return true;
}

void Parser::recover_module() {
  while (peek().kind != Token::Kind::kEnd && !begins_module_item(peek())) take();
}

bool Parser::parse_module() {
  if (!peek().is(".version")) {
    fail_here("PTX begins with .version, found " + quoted(peek()));
    return false;
  }
  while (peek().kind != Token::Kind::kEnd && !diagnostics_.full()) {
    const Token token = peek();
    if (token.is(".version")) {
      parse_version();
      if (diagnostics_.code() == ErrorCode::kUnsupportedPtxVersion) return false;
    } else if (token.is(".target")) {
      parse_target();
    } else if (token.is(".address_size")) {
      take();
      std::uint64_t bits = 0;
      const std::uint32_t offset = peek().offset;
      if (take_integer(&bits, 64) && bits != 64) fail(offset, "only .address_size 64 is supported");
    } else if (token.is(".file")) {
      parse_file();
    } else if (token.is(".section")) {
      take();
      while (peek().kind != Token::Kind::kEnd && !peek().is('{')) take();
      if (peek().is('{')) lexer_.skip_braces();
    } else if (token.is(".alias")) {
      parse_alias();
    } else if (token.is(".pragma")) {
      parse_pragma();
      module_->items.push_back({Module::Item::Kind::kPragma, static_cast<std::uint32_t>(module_->pragmas.size() - 1)});
    } else if (token.is(';')) {
      take();
    } else if (Linkage linkage = linkage_of(token.kind == Token::Kind::kDotName ? token.text : std::string_view());
               linkage != Linkage::kNone) {
      take();
      parse_linked(linkage);
    } else if (begins_module_item(token)) {
      parse_linked(Linkage::kNone);
    } else {
      take();
      fail(token.offset, "expected a directive, found " + quoted(token));
      recover_module();
    }
  }
  for (std::string_view name : initial_names_)
    if (!names_.contains(name))
      fail(static_cast<std::uint32_t>(name.data() - module_->text.data()),
           "undeclared name '" + std::string(name) + "'");
  if (module_->target == 0 && !diagnostics_.failed()) fail(0, "there is no .target directive");
  return !diagnostics_.failed();
}

void Parser::parse_version() {
  take();
  const Token number = take();
  unsigned major = 0, minor = 0;
  const char* end = number.text.data() + number.text.size();
  auto r = std::from_chars(number.text.data(), end, major);
  bool ok = number.kind == Token::Kind::kNumber && r.ec == std::errc() && r.ptr != end && *r.ptr == '.';
  if (ok) {
    auto q = std::from_chars(r.ptr + 1, end, minor);
    ok = q.ec == std::errc() && q.ptr == end && minor < 10 && major < 1000;
  }
  if (!ok) {
    fail(number.offset, "expected a version like 8.5, found " + quoted(number));
    recover_module();
    return;
  }
  module_->version = major * 10 + minor;
  if (module_->version > kNewestVersion)
    fail(number.offset,
         "PTX version " + std::string(number.text) + " is newer than the newest supported one, " +
             std::to_string(kNewestVersion / 10) + "." + std::to_string(kNewestVersion % 10) +
             "; compile for an older PTX version",
         ErrorCode::kUnsupportedPtxVersion);
}

void Parser::parse_target() {
  take();
  do {
    Token name;
    if (!take_name(&name)) return recover_module();
    if (name.text.starts_with("sm_") || name.text.starts_with("compute_")) {
      std::size_t digits = name.text.find('_') + 1;
      unsigned number = 0;
      auto r = std::from_chars(name.text.data() + digits, name.text.data() + name.text.size(), number);
      if (r.ec != std::errc() || number < 10 || number > 999) {
        fail(name.offset, "unknown target " + quoted(name));
        return;
      }
      module_->target = number;
      module_->target_name = name.text;
    } else {
      module_->target_options.push_back(name.text);
    }
  } while (accept(','));
}

void Parser::parse_file() {
  take();
  File file;
  std::uint64_t number = 0, ignored = 0;
  if (!take_integer(&number, 1u << 30)) return recover_module();
  const Token name = take();
  if (name.kind != Token::Kind::kString) {
    fail(name.offset, "expected a file name in quotes, found " + quoted(name));
    return recover_module();
  }
  file.number = static_cast<std::uint32_t>(number);
  file.name = name.text;
  while (accept(','))
    if (!take_integer(&ignored, ~std::uint64_t{0})) return recover_module();
  module_->items.push_back({Module::Item::Kind::kFile, static_cast<std::uint32_t>(module_->files.size())});
  module_->files.push_back(file);
}

void Parser::parse_alias() {
  take();
  Token name, target;
  if (!take_name(&name) || !expect(',') || !take_name(&target) || !expect(';')) return recover_module();
  module_->items.push_back({Module::Item::Kind::kAlias, static_cast<std::uint32_t>(module_->aliases.size())});
  module_->aliases.push_back({name.text, target.text});
}

void Parser::parse_pragma() {
  take();
  do {
    const Token text = take();
    if (text.kind != Token::Kind::kString) {
      fail(text.offset, "expected a string after .pragma, found " + quoted(text));
      break;
    }
    if (function_ != nullptr && function_->has_body)
      function_->pragmas.push_back(text.text);
    else
      module_->pragmas.push_back(text.text);
  } while (accept(','));
  expect(';');
}

void Parser::parse_linked(Linkage linkage) {
  const Token word = take();
  if (word.is(".entry") || word.is(".func")) {
    parse_function(linkage, word.is(".entry"));
    return;
  }
  Variable base;
  base.linkage = linkage;
  if (word.is(".global"))
    base.space = Space::kGlobal;
  else if (word.is(".const"))
    base.space = Space::kConst;
  else if (word.is(".shared"))
    base.space = Space::kShared;
  else {
    fail(word.offset, "expected .global, .const, .shared, .entry or .func, found " + quoted(word));
    return recover_module();
  }
  if (!parse_variable_head(&base)) return recover_module();
  do {
    Variable variable = base;
    if (!parse_declarator(&variable, true)) return recover_module();
    declare_module_variable(std::move(variable));
  } while (accept(','));
  if (!expect(';')) recover_module();
}

bool Parser::parse_variable_head(Variable* variable) {
  for (;;) {
    const Token token = peek();
    if (token.kind != Token::Kind::kDotName) return fail(token.offset, "expected a type, found " + quoted(token));
    const std::string_view word = token.text.substr(1);
    if (word == "align") {
      take();
      std::uint64_t align = 0;
      const std::uint32_t offset = peek().offset;
      if (!take_integer(&align, 1u << 20)) return false;
      if (align == 0 || (align & (align - 1)) != 0) return fail(offset, "an alignment must be a power of two");
      variable->align = static_cast<std::uint32_t>(align);
    } else if (word == "attribute") {
      take();
      if (!expect('(')) return false;
      int depth = 1;
      while (depth > 0) {
        if (peek().kind == Token::Kind::kEnd || peek().is(';')) return fail_here("unfinished .attribute");
        if (peek().is(".managed")) variable->managed = true;
        if (peek().is('(')) ++depth;
        if (peek().is(')')) --depth;
        take();
      }
    } else if (word == "v2" || word == "v4" || word == "v8") {
      take();
      variable->vector = static_cast<std::uint8_t>(word[1] - '0');
    } else if (word == "ptr") {
      take();
      variable->is_pointer = true;
    } else if (variable->is_pointer && (word == "global" || word == "const" || word == "shared" || word == "local")) {
      take();
      variable->pointer_space = word == "global"   ? Space::kGlobal
                                : word == "const"  ? Space::kConst
                                : word == "shared" ? Space::kShared
                                                   : Space::kLocal;
    } else {
      Modifier type = find_modifier(word);
      if (!is_type(type)) return fail(token.offset, "unknown type '" + std::string(token.text) + "'");
      if (type == Modifier::kTexref || type == Modifier::kSamplerref || type == Modifier::kSurfref)
        return fail(token.offset, "texture and surface references are not supported; use texture objects");
      take();
      variable->type = type;
      // `.ptr` and its attributes follow the type of a kernel parameter.
      if (peek().is(".ptr")) continue;
      return true;
    }
    if (variable->is_pointer && peek().kind != Token::Kind::kDotName) {
      variable->pointer_align = variable->align;
      variable->align = 0;
      return true;
    }
  }
}

bool Parser::parse_declarator(Variable* variable, bool may_initialise) {
  Token name;
  if (!take_name(&name)) return false;
  variable->name = name.text;
  variable->line = name.line;
  variable->offset = name.offset;
  while (accept('[')) {
    variable->is_array = true;
    std::uint64_t size = 0;
    if (peek().is(']')) {
      if (!variable->dimensions.empty()) return fail_here("only the first dimension may be left out");
      variable->unsized = true;
    } else if (!take_integer(&size, kLargestVariable)) {
      return false;
    }
    if (!expect(']')) return false;
    variable->dimensions.push_back(size);
    std::uint64_t product = 16;
    for (std::size_t i = variable->unsized ? 1 : 0; i < variable->dimensions.size(); ++i) {
      if (variable->dimensions[i] != 0 && product > kLargestVariable / variable->dimensions[i])
        return fail(name.offset, "variable '" + std::string(name.text) + "' is too large");
      product *= variable->dimensions[i];
    }
    if (variable->dimensions.size() > 16) return fail_here("too many dimensions");
  }
  if (peek().is('=')) {
    if (!may_initialise) return fail_here("no initial value is possible here");
    take();
    if (!parse_initial(variable)) return false;
  }
  return true;
}

void Parser::declare_module_variable(Variable variable) {
  const auto index = static_cast<std::uint32_t>(module_->variables.size());
  auto [entry, is_new] = names_.try_emplace(variable.name, ModuleName{false, index});
  if (!is_new) {
    const bool was_function = entry->second.is_function;
    const bool was_extern = !was_function && module_->variables[entry->second.index].linkage == Linkage::kExtern;
    if (was_function || (!was_extern && variable.linkage != Linkage::kExtern)) {
      fail(variable.offset, "'" + std::string(variable.name) + "' is already declared");
      return;
    }
    if (variable.linkage != Linkage::kExtern) entry->second.index = index;
  }
  module_->items.push_back({Module::Item::Kind::kVariable, index});
  module_->variables.push_back(std::move(variable));
}

bool Parser::parse_parameter(Variable* variable) {
  if (accept(".param"))
    variable->space = Space::kParam;
  else if (accept(".reg"))
    variable->space = Space::kRegister;
  else
    return fail_here("expected .param or .reg, found " + quoted(peek()));
  return parse_variable_head(variable) && parse_declarator(variable, false);
}

bool Parser::parse_parameters(std::vector<std::uint32_t>* list) {
  if (!expect('(')) return false;
  if (accept(')')) return true;
  do {
    Variable variable;
    if (!parse_parameter(&variable)) return false;
    Binding binding{Binding::Kind::kVariable, static_cast<std::uint32_t>(function_->variables.size()), 0};
    if (variable.space == Space::kRegister) {
      variable.register_id = function_->register_count;
      RegisterRange range;
      range.name = variable.name;
      range.type = variable.type;
      range.vector = variable.vector;
      add_registers(range, variable.offset);
    } else if (variable.name != "_") {
      bind(&exact_, variable.name, binding, variable.offset);
    }
    list->push_back(static_cast<std::uint32_t>(function_->variables.size()));
    function_->variables.push_back(std::move(variable));
  } while (accept(','));
  return expect(')');
}

bool Parser::parse_dimensions(std::uint32_t out[3]) {
  out[0] = out[1] = out[2] = 1;
  for (int i = 0; i < 3; ++i) {
    std::uint64_t n = 0;
    if (!take_integer(&n, 0x7fffffff)) return false;
    out[i] = static_cast<std::uint32_t>(n);
    if (i == 2 || !accept(',')) break;
  }
  return true;
}

bool Parser::parse_function_directives() {
  while (peek().kind == Token::Kind::kDotName) {
    const Token word = take();
    std::uint64_t n = 0;
    if (word.is(".maxntid")) {
      if (!parse_dimensions(function_->max_threads)) return false;
    } else if (word.is(".reqntid")) {
      if (!parse_dimensions(function_->required_threads)) return false;
    } else if (word.is(".minnctapersm")) {
      if (!take_integer(&n, 1u << 20)) return false;
      function_->min_ctas = static_cast<std::uint32_t>(n);
    } else if (word.is(".maxnreg")) {
      if (!take_integer(&n, 1u << 20)) return false;
      function_->max_registers = static_cast<std::uint32_t>(n);
    } else if (word.is(".maxnctapersm") || word.is(".abi_preserve") || word.is(".abi_preserve_control")) {
      if (!take_integer(&n, 1u << 20)) return false;
    } else if (word.is(".maxclusterrank")) {
      if (!take_integer(&n, 1u << 20)) return false;
      function_->max_cluster_rank = static_cast<std::uint32_t>(n);
    } else if (word.is(".reqnctapercluster")) {
      if (!parse_dimensions(function_->cluster)) return false;
    } else if (word.is(".explicitcluster")) {
      function_->explicit_cluster = true;
    } else if (word.is(".noreturn")) {
      function_->noreturn = true;
    } else if (word.is(".unified") || word.is(".blocksareclusters")) {
      // without effect on one device of ours
    } else if (word.is(".attribute")) {
      if (!expect('(')) return false;
      while (peek().kind != Token::Kind::kEnd && !peek().is(')')) take();
      if (!expect(')')) return false;
    } else if (word.is(".pragma")) {
      const Token text = take();
      if (text.kind != Token::Kind::kString) return fail(text.offset, "expected a string after .pragma");
      if (!expect(';')) return false;
    } else {
      return fail(word.offset, "unknown directive " + quoted(word));
    }
  }
  return true;
}

void Parser::parse_function(Linkage linkage, bool is_entry) {
  module_->functions.emplace_back();
  const auto index = static_cast<std::uint32_t>(module_->functions.size() - 1);
  function_ = &module_->functions.back();
  function_->is_entry = is_entry;
  function_->linkage = linkage;
  exact_.clear();
  ranged_.clear();
  undo_.clear();
  undo_marks_.clear();
  scope_stack_.assign(1, 0);
  scope_parents_.assign(1, 0);
  label_uses_.clear();
  label_definitions_.clear();

  auto parse_head = [&] {
    if (peek().is(".attribute") && !parse_function_directives()) return false;
    if (peek().is('(') && !parse_parameters(&function_->returns)) return false;
    if (is_entry && !function_->returns.empty()) return fail_here("a kernel returns nothing");
    Token name;
    if (!take_name(&name)) return false;
    function_->name = name.text;
    function_->line = name.line;
    function_->offset = name.offset;
    if (peek().is('(') && !parse_parameters(&function_->parameters)) return false;
    return parse_function_directives();
  };
  if (!parse_head()) {
    function_ = nullptr;
    module_->functions.pop_back();
    return recover_module();
  }
  if (peek().is('{')) {
    if (linkage == Linkage::kExtern) fail_here("an .extern function can't have a body");
    function_->has_body = true;
    declare_function(index);
    parse_body();
  } else {
    if (!expect(';')) recover_module();
    declare_function(index);
  }
  module_->items.push_back({Module::Item::Kind::kFunction, index});
  function_ = nullptr;
}

void Parser::declare_function(std::uint32_t index) {
  const Function& function = module_->functions[index];
  auto [entry, is_new] = names_.try_emplace(function.name, ModuleName{true, index});
  if (is_new) return;
  if (!entry->second.is_function) {
    fail(function.offset, "'" + std::string(function.name) + "' is already declared as a variable");
    return;
  }
  const Function& other = module_->functions[entry->second.index];
  if (other.is_entry != function.is_entry) {
    fail(function.offset, "'" + std::string(function.name) + "' is already declared with another kind");
    return;
  }
  if (function.has_body) {
    if (other.has_body)
      fail(function.offset,
           "function '" + std::string(function.name) + "' is already defined in line " + std::to_string(other.line));
    entry->second.index = index;
  }
}

Result<std::unique_ptr<const Module>> parse_ptx(std::string_view text, std::string_view unit, std::string* log) {
  if (text.size() > 0xfffffff0u) {
    if (log != nullptr) *log += std::string(unit) + ": error: the PTX text is larger than 4 GiB\n";
    return Status(ErrorCode::kInvalidPtx, "the PTX text is too large");
  }
  auto module = std::make_unique<Module>();
  module->unit = unit;
  module->text.assign(text.data(), text.size());
  Parser parser(module.get(), log);
  if (!parser.parse_module()) {
    return Status(parser.code(), parser.code() == ErrorCode::kUnsupportedPtxVersion ? "the PTX version is too new"
                                                                                    : "the PTX text has errors");
  }
  return std::unique_ptr<const Module>(std::move(module));
}

}  // namespace heddle::ptx

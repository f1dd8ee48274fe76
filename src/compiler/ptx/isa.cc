#include "compiler/ptx/isa.h"

#include <algorithm>
#include <unordered_map>

namespace heddle::ptx {
namespace {

struct Word {
  std::string_view text;
  int bits;  // 0: not a type
};
constexpr Word kWords[] = {
#define HEDDLE_PTX_TYPE(identifier, text, bits) {text, bits},
#include "compiler/ptx/modifiers.def"
#undef HEDDLE_PTX_TYPE
#define HEDDLE_PTX_MODIFIER(identifier, text) {text, 0},
#include "compiler/ptx/modifiers.def"
#undef HEDDLE_PTX_MODIFIER
};

constexpr int index_of(std::string_view text) {
  for (int i = 0; i < static_cast<int>(std::size(kWords)); ++i)
    if (kWords[i].text == text) return i;
  return -1;
}

constexpr bool words_are_distinct() {
  for (std::size_t i = 0; i < std::size(kWords); ++i)
    for (std::size_t j = i + 1; j < std::size(kWords); ++j)
      if (kWords[i].text == kWords[j].text) return false;
  return true;
}
static_assert(words_are_distinct(), "modifiers.def names a word twice");

constexpr bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
}

constexpr std::string_view take_word(std::string_view text, std::size_t* at) {
  std::size_t begin = *at;
  while (*at < text.size() && is_name_char(text[*at])) ++*at;
  return text.substr(begin, *at - begin);
}

/// Reads one row. `group(optional)` begins a group, `word(index)` adds to it, `operand(rule)` adds an operand. False if
/// the row is malformed. Runs both at compile time, as the check, and at run time, to build the table.
template <class OnName, class OnGroup, class OnWord, class OnOperand>
constexpr bool scan_form(std::string_view text, OnName name, OnGroup group, OnWord word, OnOperand operand) {
  std::size_t at = 0;
  std::string_view first = take_word(text, &at);
  if (first.empty()) return false;
  name(first);
  while (at < text.size() && text[at] != ' ') {
    const bool optional = text[at] == '{';
    if (!optional && text[at] != '.') return false;
    ++at;
    bool parenthesised = false;
    if (!optional && at < text.size() && text[at] == '(') {
      parenthesised = true;
      ++at;
    }
    group(optional);
    for (;;) {
      if (optional) {
        if (at >= text.size() || text[at] != '.') return false;
        ++at;
      }
      std::string_view w = take_word(text, &at);
      int index = index_of(w);
      if (index < 0) return false;
      word(index);
      if ((optional || parenthesised) && at < text.size() && text[at] == '|') {
        ++at;
        continue;
      }
      break;
    }
    if (optional || parenthesised) {
      if (at >= text.size() || text[at] != (optional ? '}' : ')')) return false;
      ++at;
    }
  }
  bool first_operand = true;
  while (at < text.size()) {
    bool optional = text[at] == '{';
    if (optional) ++at;
    if (!first_operand && (at >= text.size() || text[at++] != ',')) return false;
    if (first_operand && !optional) {
      if (at >= text.size() || text[at++] != ' ') return false;
    } else {
      if (optional && first_operand) return false;
      if (at >= text.size() || text[at++] != ' ') return false;
    }
    OperandRule rule;
    rule.optional = optional;
    if (at < text.size() && text[at] == '[') {
      rule.kind = OperandRule::Kind::kAddress;
      ++at;
      if (take_word(text, &at).size() != 1 || at >= text.size() || text[at++] != ']') return false;
    } else {
      std::string_view w = take_word(text, &at);
      if (w.size() != 1) return false;
      if (w == "L") rule.kind = OperandRule::Kind::kLabel;
      if (w == "F") rule.kind = OperandRule::Kind::kCallee;
      if (w == "d") rule.kind = OperandRule::Kind::kDestination;
      if (at < text.size() && text[at] == '|') {
        ++at;
        if (w != "d" || take_word(text, &at) != "p") return false;
        rule.kind = OperandRule::Kind::kPair;
      }
    }
    if (optional && (at >= text.size() || text[at++] != '}')) return false;
    operand(rule);
    first_operand = false;
  }
  return true;
}

constexpr bool is_well_formed(std::string_view text) {
  return scan_form(text, [](std::string_view) {}, [](bool) {}, [](int) {}, [](OperandRule) {});
}
#define HEDDLE_PTX_FORM(opcode, translator, version, target, text) \
  static_assert(is_well_formed(text), "malformed row in isa.def: " #text);
#include "compiler/ptx/isa.def"
#undef HEDDLE_PTX_FORM

struct Row {
  Opcode opcode;
  int version, target;
  std::string_view text;
};
constexpr Row kRows[] = {
#define HEDDLE_PTX_FORM(opcode, translator, version, target, text) {Opcode::k##opcode, version, target, text},
#include "compiler/ptx/isa.def"
#undef HEDDLE_PTX_FORM
};

std::vector<Form> build_forms() {
  std::vector<Form> forms;
  forms.reserve(std::size(kRows));
  for (const Row& row : kRows) {
    Form form;
    form.text = row.text;
    form.opcode = row.opcode;
    form.version = row.version;
    form.target = row.target;
    scan_form(
        row.text, [&](std::string_view name) { form.name = name; },
        [&](bool optional) { form.groups.push_back({{}, optional}); },
        [&](int word) { form.groups.back().words.set(word); },
        [&](OperandRule rule) {
          form.operands.push_back(rule);
          form.min_operands += rule.optional ? 0 : 1;
        });
    forms.push_back(std::move(form));
  }
  return forms;
}

using FormsByName = std::unordered_map<std::string_view, std::vector<const Form*>>;
const FormsByName& forms_by_name() {
  static const FormsByName* map = [] {
    auto* m = new FormsByName;
    for (const Form& form : all_forms()) (*m)[form.name].push_back(&form);
    return m;
  }();
  return *map;
}

const std::unordered_map<std::string_view, int>& words_by_text() {
  static const auto* map = [] {
    auto* m = new std::unordered_map<std::string_view, int>;
    for (int i = 0; i < static_cast<int>(std::size(kWords)); ++i) (*m)[kWords[i].text] = i;
    return m;
  }();
  return *map;
}

/// Each word takes the first unused group that has it; types only move forward, so that they keep their order.
bool fits(const Form& form, const std::vector<Modifier>& words) {
  std::uint64_t used = 0;
  std::size_t type_group = 0;
  for (Modifier word : words) {
    std::size_t g = is_type(word) ? type_group : 0;
    for (; g < form.groups.size(); ++g)
      if (!(used >> g & 1) && form.groups[g].words[static_cast<std::size_t>(word)]) break;
    if (g == form.groups.size()) return false;
    used |= std::uint64_t{1} << g;
    if (is_type(word)) type_group = g + 1;
  }
  for (std::size_t g = 0; g < form.groups.size(); ++g)
    if (!form.groups[g].optional && !(used >> g & 1)) return false;
  return true;
}

}  // namespace

std::string_view text_of(Modifier modifier) { return kWords[static_cast<std::size_t>(modifier)].text; }
bool is_type(Modifier modifier) {
  return modifier < Modifier::kCount && kWords[static_cast<std::size_t>(modifier)].bits != 0;
}
int bits_of(Type type) { return kWords[static_cast<std::size_t>(type)].bits; }

Modifier find_modifier(std::string_view text) {
  auto found = words_by_text().find(text);
  return found == words_by_text().end() ? Modifier::kNone : static_cast<Modifier>(found->second);
}

const std::vector<Form>& all_forms() {
  static const std::vector<Form>* forms = new std::vector<Form>(build_forms());
  return *forms;
}

MatchResult match_mnemonic(std::string_view text, Mnemonic* mnemonic) {
  using Problem = MatchResult::Problem;
  mnemonic->text = text;
  std::size_t dot = std::min(text.find('.'), text.size());
  auto candidates = forms_by_name().find(text.substr(0, dot));
  if (candidates == forms_by_name().end()) return {Problem::kUnknownName, text.substr(0, dot)};
  for (std::size_t at = dot; at < text.size();) {
    std::size_t end = std::min(text.find('.', at + 1), text.size());
    std::string_view word = text.substr(at + 1, end - at - 1);
    Modifier modifier = find_modifier(word);
    if (modifier == Modifier::kNone) return {Problem::kUnknownModifier, word};
    mnemonic->words.push_back(modifier);
    mnemonic->modifiers.set(static_cast<std::size_t>(modifier));
    if (is_type(modifier) && mnemonic->type_count < 4) mnemonic->types[mnemonic->type_count++] = modifier;
    at = end;
  }
  // A word that no form of this name has at all is the better complaint.
  for (Modifier word : mnemonic->words) {
    bool anywhere = false;
    for (const Form* form : candidates->second)
      for (const Form::Group& group : form->groups) anywhere |= group.words[static_cast<std::size_t>(word)];
    if (!anywhere) return {Problem::kUnknownModifier, text_of(word)};
  }
  for (const Form* form : candidates->second)
    if (fits(*form, mnemonic->words)) mnemonic->forms.push_back(form);
  if (mnemonic->forms.empty()) return {Problem::kNoForm, {}};
  return {};
}

}  // namespace heddle::ptx

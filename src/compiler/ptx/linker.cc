#include "compiler/ptx/linker.h"

#include <unordered_set>

namespace heddle::ptx {
namespace {

/// Function addresses are numbers that no memory has, so that a wild read through one faults.
constexpr std::uint64_t kFunctionAddressBase = 0xf1c0000000000000ull;

Linkage linkage_of(const Symbol& s) { return s.variable ? s.variable->linkage : s.function->linkage; }
bool is_definition(const Symbol& s) {
  return s.variable ? s.variable->linkage != Linkage::kExtern : s.function->has_body;
}
std::string name_of_symbol(const Symbol& s) { return std::string(s.variable ? s.variable->name : s.function->name); }
bool is_exported(const Symbol& s) {
  const Linkage l = linkage_of(s);
  return l == Linkage::kVisible || l == Linkage::kWeak || l == Linkage::kCommon;
}

}  // namespace

Result<std::unique_ptr<const LinkedModule>> LinkedModule::link(std::vector<std::unique_ptr<const Module>> units,
                                                               std::string* log) {
  auto linked = std::make_unique<LinkedModule>();
  linked->units_ = std::move(units);
  for (const auto& unit : linked->units_)
    if (!linked->add_unit(unit.get(), log)) return Status(ErrorCode::kInvalidPtx, "the PTX units can't be linked");
  linked->collect_kernels_and_variables();
  linked->collect_address_taken();
  return std::unique_ptr<const LinkedModule>(std::move(linked));
}

bool LinkedModule::add_unit(const Module* unit, std::string* log) {
  Names& names = local_[unit];
  auto add_local = [&](std::string_view name, const Symbol& symbol) {
    auto [entry, is_new] = names.try_emplace(name, symbol);
    if (!is_new && is_definition(symbol) && !is_definition(entry->second)) entry->second = symbol;
  };
  for (const Variable& v : unit->variables) add_local(v.name, {unit, &v, nullptr});
  for (const Function& f : unit->functions) add_local(f.name, {unit, nullptr, &f});
  for (const Alias& alias : unit->aliases) {
    auto target = names.find(alias.target);
    if (target != names.end()) names[alias.name] = target->second;
  }
  alias_static_names(unit, &names);
  for (const auto& [name, symbol] : names) {
    if (!is_definition(symbol) || (!is_exported(symbol) && !(symbol.function && symbol.function->is_entry))) continue;
    // External shared arrays are one per unit and need no linking.
    auto [entry, is_new] = global_.try_emplace(name, symbol);
    if (is_new || entry->second.unit == unit) continue;
    const bool old_weak = linkage_of(entry->second) == Linkage::kWeak || linkage_of(entry->second) == Linkage::kCommon;
    const bool new_weak = linkage_of(symbol) == Linkage::kWeak || linkage_of(symbol) == Linkage::kCommon;
    if (!is_exported(symbol) || !is_exported(entry->second)) continue;  // private kernels: the first one is found
    if (!old_weak && !new_weak) {
      if (log != nullptr)
        *log += unit->unit + ": error: multiple definition of '" + name_of_symbol(symbol) + "', first defined in " +
                entry->second.unit->unit + "\n";
      return false;
    }
    if (old_weak && !new_weak) entry->second = symbol;
  }
  return true;
}

// Clang 19 with -fgpu-rdc emits `.extern .global x` beside `.visible .global x__static__ID` when a static variable is
// used before the host code that names it; the two are the same variable.
void LinkedModule::alias_static_names(const Module* unit, Names* names) {
  for (const Variable& v : unit->variables) {
    if (v.linkage != Linkage::kExtern || is_definition((*names)[v.name])) continue;
    const std::string prefix = std::string(v.name) + "__static__";
    const Variable* only = nullptr;
    int count = 0;
    for (const Variable& w : unit->variables)
      if (w.linkage != Linkage::kExtern && w.name.starts_with(prefix)) only = &w, ++count;
    if (count == 1) (*names)[v.name] = {unit, only, nullptr};
  }
}

Symbol LinkedModule::find(const Module* unit, std::string_view name) const {
  auto names = local_.find(unit);
  Symbol local;
  if (names != local_.end()) {
    auto found = names->second.find(name);
    if (found != names->second.end()) local = found->second;
  }
  // A private definition hides the others; an exported one may have lost to a strong one elsewhere.
  if (local && is_definition(local) && !is_exported(local)) return local;
  if (local && local.variable && local.variable->space == Space::kShared) return local;
  auto global = global_.find(
      local && is_definition(local) ? (local.variable ? local.variable->name : local.function->name) : name);
  if (global != global_.end()) return global->second;
  return local;
}

Symbol LinkedModule::find_kernel(std::string_view name) const {
  for (const Symbol& k : kernels_)
    if (k.function->name == name) return k;
  return {};
}

void LinkedModule::collect_kernels_and_variables() {
  std::unordered_set<std::string_view> kernel_names;
  std::unordered_map<std::string, int> used;
  auto add_variable = [&](const Module* unit, const Variable& v) {
    if (v.space != Space::kGlobal && v.space != Space::kConst) return;
    std::string name(v.name);
    const int n = used[name]++;
    if (n > 0) name += "$" + std::to_string(n + 1);
    variable_names_[&v] = std::move(name);
    variables_.push_back({unit, &v, nullptr});
  };
  for (const auto& unit : units_) {
    for (const Function& f : unit->functions) {
      if (f.is_entry && f.has_body && kernel_names.insert(f.name).second) kernels_.push_back({unit.get(), nullptr, &f});
      for (const Variable& v : f.variables) add_variable(unit.get(), v);
    }
    for (const Variable& v : unit->variables) {
      const Symbol meant = find(unit.get(), v.name);
      if (meant.variable != nullptr && meant.variable != &v) continue;
      if (v.linkage == Linkage::kExtern && used.contains(std::string(v.name))) continue;
      add_variable(unit.get(), v);
    }
  }
}

const std::string& LinkedModule::name_of(const Variable* variable) const {
  static const std::string* none = new std::string;
  auto found = variable_names_.find(variable);
  return found == variable_names_.end() ? *none : found->second;
}

void LinkedModule::take_address(const Symbol& symbol) {
  if (symbol.function == nullptr) return;
  auto [entry, is_new] =
      addresses_.try_emplace(symbol.function, kFunctionAddressBase + 16 * (address_taken_.size() + 1));
  if (is_new) address_taken_.push_back(symbol);
}

// A function's name anywhere but as a callee (the second of call's four operands).
void LinkedModule::collect_address_taken() {
  for (const auto& unit : units_) {
    for (const Variable& v : unit->variables)
      for (const InitialValue& i : v.initial)
        if (i.kind == InitialValue::Kind::kAddress) take_address(find(unit.get(), i.symbol));
    for (const Function& f : unit->functions) {
      for (const Instruction& inst : f.instructions) {
        if (inst.form == nullptr || inst.form->opcode == Opcode::kCall) continue;
        for (std::uint32_t o = 0; o < inst.count; ++o) {
          const Operand& operand = f.operands[inst.first + o];
          if (operand.kind == Operand::Kind::kName) take_address(find(unit.get(), operand.text));
        }
      }
    }
  }
}

std::uint64_t LinkedModule::function_address(const Function* function) const {
  auto found = addresses_.find(function);
  return found == addresses_.end() ? 0 : found->second;
}

}  // namespace heddle::ptx

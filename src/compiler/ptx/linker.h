// Several PTX units as one module: which definition a name means in each unit, and what every variable is called
// outside. The trees stay as they are; only the names are resolved. Tested by ptx/linker_test.cc.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "compiler/ptx/ast.h"

namespace heddle::ptx {

/// What a name stands for: a variable or a function, with the unit that defines (or only declares) it.
struct Symbol {
  const Module* unit = nullptr;
  const Variable* variable = nullptr;
  const Function* function = nullptr;
  explicit operator bool() const { return unit != nullptr; }
};

class LinkedModule {
 public:
  /// Errors: kInvalidPtx (two strong definitions of a name); `log` says which.
  static Result<std::unique_ptr<const LinkedModule>> link(std::vector<std::unique_ptr<const Module>> units,
                                                          std::string* log);

  const std::vector<std::unique_ptr<const Module>>& units() const { return units_; }
  /// What `name` means in `unit`; the declaration if nothing defines it; empty if there is no such name.
  Symbol find(const Module* unit, std::string_view name) const;
  /// The kernel of that name in any unit, or empty.
  Symbol find_kernel(std::string_view name) const;
  const std::vector<Symbol>& kernels() const { return kernels_; }
  /// Variables in global and constant space: definitions, and declarations that nothing defines.
  const std::vector<Symbol>& variables() const { return variables_; }
  /// A variable's name in the whole module: its own, or with a suffix if two units have a private one of that name.
  const std::string& name_of(const Variable* variable) const;
  /// Functions whose address is taken somewhere; the position is the address, see function_address().
  const std::vector<Symbol>& address_taken() const { return address_taken_; }
  /// The number that stands for the address of `function`, the same in all kernels; 0 if its address is never taken.
  std::uint64_t function_address(const Function* function) const;

 private:
  using Names = std::unordered_map<std::string_view, Symbol>;
  bool add_unit(const Module* unit, std::string* log);
  void alias_static_names(const Module* unit, Names* names);
  void collect_kernels_and_variables();
  void collect_address_taken();
  void take_address(const Symbol& symbol);

  std::vector<std::unique_ptr<const Module>> units_;
  std::unordered_map<const Module*, Names> local_;
  Names global_;
  std::vector<Symbol> kernels_, variables_, address_taken_;
  std::unordered_map<const Variable*, std::string> variable_names_;
  std::unordered_map<const Function*, std::uint64_t> addresses_;
};

}  // namespace heddle::ptx

// The syntax tree as PTX text. Parsing what is printed gives the same tree: parse(print(m)) prints as print(m) does
// (ptx/printer_test.cc). DWARF sections are not part of the tree.
#pragma once

#include <string>

#include "compiler/ptx/ast.h"

namespace heddle::ptx {

std::string print_module(const Module& module);
std::string print_function(const Module& module, const Function& function);
std::string print_instruction(const Function& function, const Instruction& instruction);

}  // namespace heddle::ptx

// Syntax tree to SSA: one kernel of a linked module, with all functions that it calls and all symbols that it names.
// The first transform; the pipeline that follows it is in compile.cc. Tested by transform/build_ssa_test.cc.
#pragma once

#include <string>

#include "base/status.h"
#include "compiler/ir/ir.h"
#include "compiler/ptx/linker.h"

namespace heddle::transform {

/// Errors: kNotFound (no such kernel), kInvalidPtx, kNotSupported; `log` has "ptx:LINE:COLUMN: error: ...".
Result<ir::Program> build_ssa(const ptx::LinkedModule& linked, std::string_view kernel, std::string* log);

struct ParameterLayout {
  std::vector<ir::Parameter> parameters;
  std::uint32_t bytes = 0;
};
/// Where a kernel's parameters lie in the parameter buffer.
ParameterLayout compute_parameter_layout(const ptx::Function& kernel);

}  // namespace heddle::transform

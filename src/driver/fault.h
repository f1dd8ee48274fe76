// Tells the user about a grid that faulted. Tested by tests/api/driver/launch_test.cc.
#pragma once

#include <string>

#include "compiler/compile.h"
#include "exec/grid.h"

namespace heddle::driver {

/// Logs kernel, block, thread, address and PTX line of the fault, as far as they are known. May take some seconds: see
/// fault.cc. Called once the grid was abandoned, outside any guarded region and with no lock held.
void log_fault(const std::string& kernel, const compiler::Module& module, exec::Grid& grid,
               const compiler::CompiledKernel& code);

}  // namespace heddle::driver

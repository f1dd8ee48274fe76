// What the compiler's constructors tell the runtime: fatbins, and which host address stands for which kernel or
// variable of them. Registration makes no driver call; a fatbin becomes a driver library on first use. Names are found
// whether they are .visible or not. Tested by tests/programs and tests/api.
#pragma once

#include <memory>
#include <string>

#include "runtime/state.h"

namespace heddle::runtime {

/// The driver's kernel behind a host stub (or a cudaKernel_t given as one). Errors: cudaErrorInvalidDeviceFunction, and
/// whatever loading the fatbin says, such as cudaErrorNoKernelImageForDevice.
cudaError_t find_kernel(const void* stub, CUkernel* kernel);

/// The error of a launch of no kernel at all: why the stub's own look-up failed.
cudaError_t why_no_kernel();

/// A registered variable in the current context. Error: cudaErrorInvalidSymbol.
struct Symbol {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
};
cudaError_t find_symbol(const void* host_variable, Symbol* symbol);

/// Gives every managed variable of loaded and unloaded fatbins its address, as a launch must.
cudaError_t prepare_managed_variables();

}  // namespace heddle::runtime

// Calls as text: "cuMemAlloc_v2(pointer=0x7ffd10, bytes=16) = CUDA_SUCCESS". Tested by trace_test.cc.
#pragma once

#include <span>
#include <string>

#include "api/entry.h"

namespace heddle::api {

/// The function and its arguments, by the names of its row. Strings are printed where the name says that they are one;
/// nothing else is read through a pointer.
std::string print_call(const Entry& entry, std::span<const Argument> arguments);

/// From now on, logs every call of this library after it has returned, at level debug.
void log_calls();

}  // namespace heddle::api

// Device printf: formats one thread's call, and keeps the text until the host synchronises, as NVIDIA's driver does.
// Tested by exec/print_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::exec {

/// Formats into `out` (cut at `capacity`), with arguments packed at their natural alignment as PTX's vprintf has them.
/// Returns the number of arguments used, or -2 for a null format; *written is the text's length. May fault when the
/// format or a %s argument is a bad address, so it holds no lock and owns nothing.
int format_device_text(const char* format, const void* arguments, char* out, std::size_t capacity,
                       std::size_t* written);

/// Appends to the process's buffer.
void append_device_output(const char* text, std::size_t length);
/// Writes what kernels have printed to stdout. Costs one load when there is nothing.
void flush_device_output();

}  // namespace heddle::exec

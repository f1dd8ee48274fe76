// The one function that libheddle-jit.so exports. Both sides are built from the same tree, so C++ types may be read
// across the boundary; but each side has its own C++ runtime, so nothing is freed on the other side than it was made:
// results are handed over through `sink`.
#pragma once

#include <cstdint>

#include "compiler/compile.h"
#include "compiler/ir/ir.h"

namespace heddle::codegen {

struct JitOutput {
  const std::uint8_t* object = nullptr;  ///< a relocatable ELF object with heddle_warp and perhaps heddle_range
  std::uint64_t object_bytes = 0;
  std::uint32_t frame_bytes = 0;
  bool has_range = false;
  const compiler::SourceLine* lines = nullptr;
  std::uint64_t line_count = 0;
  const char* explanation = "";  ///< or the error message when the call failed
};

/// Compiles program.kernel. Returns an ErrorCode as int; calls sink(user, output) once, also on failure.
using JitCompile = int (*)(const ir::Program& program, const compiler::Variant& variant,
                           void (*sink)(void* user, const JitOutput& output), void* user);
inline constexpr const char* kJitCompileSymbol = "heddle_jit_compile";

}  // namespace heddle::codegen

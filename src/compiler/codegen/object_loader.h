// Puts a compiled kernel (a relocatable ELF object of libheddle-jit) into executable memory, without LLVM: a kernel
// from the cache runs about 0.1 ms after its file is read. Only what our own code generator makes is understood;
// anything else (a section type, relocation or outside function that is not in a short list) is refused by name.
//
// Tested by codegen/object_loader_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"
#include "exec/kernel_abi.h"

namespace heddle::codegen {

/// Owns the mapped code; it must outlive every launch of it.
class LoadedObject {
 public:
  LoadedObject(void* base, std::size_t bytes) : base_(base), bytes_(bytes) {}
  ~LoadedObject();
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;

  exec::WarpFunction warp = nullptr;    ///< heddle_warp: always there
  exec::RangeFunction range = nullptr;  ///< heddle_range: null if the kernel may suspend
  const std::uint8_t* code = nullptr;   ///< section .text, which SourceLine::code_offset counts from
  std::uint64_t code_bytes = 0;

 private:
  void* base_;
  std::size_t bytes_;
};

/// Errors: kInvalidImage (not such an object; `log` says what), kSharedObjectSymbolNotFound (it calls a function that
/// the loader doesn't offer), kOutOfMemory.
Result<std::unique_ptr<LoadedObject>> load_object(std::span<const std::uint8_t> object, std::string* log);

}  // namespace heddle::codegen

// The structs that generated code shares with exec: see kernel_abi.def, which codegen expands to LLVM types.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::exec {

namespace abi {
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using ptr = void*;
}  // namespace abi

struct LaunchContext {
#define HEDDLE_LAUNCH(type, name) abi::type name;
#include "exec/kernel_abi.def"
#undef HEDDLE_LAUNCH
};
struct CtaContext {
#define HEDDLE_CTA(type, name) abi::type name;
#include "exec/kernel_abi.def"
#undef HEDDLE_CTA
};
struct WarpState {
#define HEDDLE_WARP(type, name) abi::type name;
#include "exec/kernel_abi.def"
#undef HEDDLE_WARP
};

/// What a warp function returns (and leaves in WarpState::status).
enum WarpStatus : std::uint32_t {
  kWarpDone = 0,     ///< every lane has ended
  kWarpBarrier = 1,  ///< all lanes that live wait at a barrier: WarpState says which; call again when it is complete
  kWarpYield = 2,    ///< spins on memory: call again after others had a turn
};

/// Runs one warp of the CTA from where WarpState::pc says until it ends or must wait. Lanes past `threads` never run.
using WarpFunction = std::uint32_t (*)(const LaunchContext*, CtaContext*, std::uint32_t warp);
/// Kernels that never suspend: runs all warps of CTAs first, first+1, ... first+count-1 (linear indices, x fastest),
/// setting x, y, z, linear and current_warp of the CtaContext as it goes.
using RangeFunction = void (*)(const LaunchContext*, CtaContext*, std::uint64_t first, std::uint64_t count);

/// Services that kernels call, C calling convention. `thread` is the linear thread index in the CTA. Those marked
/// [ends] do not return: they end the grid through exec's guarded region.
struct RuntimeTable {
  /// vprintf: format and packed arguments are device addresses; returns the number of arguments or a negative error.
  std::int32_t (*vprintf)(const LaunchContext*, CtaContext*, std::uint32_t thread, const char* format,
                          const void* arguments);
  /// [ends] __assertfail
  void (*assert_fail)(const LaunchContext*, CtaContext*, std::uint32_t thread, const char* message, const char* file,
                      std::uint32_t line, const char* function);
  /// [ends] an access that the engine itself finds to be wrong (misaligned, stack overflow, a bad indirect call):
  /// `code` is an ErrorCode such as kMisalignedAddress. Wild addresses arrive as signals instead.
  void (*fault)(const LaunchContext*, CtaContext*, std::uint32_t thread, std::int32_t code, std::uint64_t address,
                std::uint32_t ptx_line);
  /// [ends] trap, brkpt and operations that this build can't run; kind is ir::TrapKind, ptx_line for the log
  void (*trap)(const LaunchContext*, CtaContext*, std::uint32_t thread, std::uint32_t kind, std::uint32_t ptx_line);
  /// the device heap (malloc and free inside kernels); null when it is full
  void* (*malloc)(const LaunchContext*, CtaContext*, std::uint64_t bytes);
  void (*free)(const LaunchContext*, CtaContext*, void* pointer);
  void (*nanosleep)(const LaunchContext*, CtaContext*, std::uint32_t nanoseconds);
  std::uint64_t (*clock)(void);        ///< %clock64: a cycle counter
  std::uint64_t (*globaltimer)(void);  ///< nanoseconds
  void (*barrier_arrive)(const LaunchContext*, CtaContext*, std::uint32_t id, std::uint32_t threads,
                         std::uint32_t lanes);
  /// One lane's texture or surface operation: form is ir::TextureForm packed by ir/texture.h; in: coordinates as raw
  /// 32-bit values, out: up to four raw 32-bit results.
  void (*texture)(const LaunchContext*, std::uint64_t handle, std::uint64_t form, const std::uint32_t* in,
                  std::uint32_t* out);
  /// grid barrier helper of cooperative launches is plain memory (see grid_workspace), so it needs no entry here
};

}  // namespace heddle::exec

// Occupancy. The model: a multiprocessor holds 1536 threads, 24 blocks and 100 KiB of shared memory, of which each
// block takes 1 KiB more than it asks for, and kernels use 32 registers a thread, which never is the limit: what a
// device of compute capability 12.0 has. A CPU runs any number of blocks; the model is for programs that size their
// grids by it. Tested by tests/api/driver/module_test.cc.
#include <algorithm>

#include "driver/function.h"
#include "driver/module.h"

namespace heddle::driver {
namespace {

std::size_t shared_of_block(const compiler::KernelInfo& info, std::size_t dynamic_shared) {
  return (info.static_shared_bytes + dynamic_shared + kReservedShared + 127) / 128 * 128;
}

}  // namespace

int resident_blocks(const compiler::KernelInfo& info, unsigned threads, std::size_t dynamic_shared) {
  if (threads == 0 || threads > info.max_threads ||
      info.static_shared_bytes + dynamic_shared > static_cast<std::size_t>(kMaxSharedPerBlock))
    return 0;
  const int by_threads = kMaxThreadsPerMultiprocessor / static_cast<int>((threads + 31) / 32 * 32);
  const auto by_shared =
      static_cast<int>(static_cast<std::size_t>(kSharedPerMultiprocessor) / shared_of_block(info, dynamic_shared));
  return std::min({by_threads, by_shared, kMaxBlocksPerMultiprocessor});
}

namespace {

CUresult active_blocks(int* blocks, CUfunction handle, int block_size, size_t shared_bytes, unsigned flags) {
  DRIVER_CHECK(blocks && flags <= 1, "no place for the number, or unknown flags");
  DRIVER_CHECK(block_size > 0, "a block has at least 1 thread");
  DRIVER_ASSIGN(const Ref<Function> function, find_function(handle));
  *blocks = resident_blocks(function->info(), static_cast<unsigned>(block_size), shared_bytes);
  return CUDA_SUCCESS;
}

CUresult best_block(int* grid_size, int* block_size, CUfunction handle, CUoccupancyB2DSize shared_of,
                    size_t shared_bytes, int limit) {
  DRIVER_CHECK(grid_size && block_size, "no place for the sizes");
  DRIVER_ASSIGN(const Ref<Function> function, find_function(handle));
  const compiler::KernelInfo& info = function->info();
  int most = static_cast<int>(std::min(info.max_threads, 1024u));
  if (limit > 0) most = std::min(most, limit);
  int best = 0, best_threads = 0, best_blocks = 0;
  for (int size = (most + 31) / 32 * 32; size > 0; size -= 32) {
    const int threads = std::min(size, most);
    const size_t shared = shared_of ? shared_of(threads) : shared_bytes;
    const int blocks = resident_blocks(info, static_cast<unsigned>(threads), shared);
    if (blocks * threads > best_threads) {
      best = threads;
      best_threads = blocks * threads;
      best_blocks = blocks;
    }
  }
  DRIVER_CHECK(best > 0, "no block of this kernel fits");
  bool known = false;
  *block_size = best;
  *grid_size =
      best_blocks * attribute_value(Context::current()->device(), CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &known);
  return CUDA_SUCCESS;
}

}  // namespace

namespace impl {

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int block_size,
                                                     size_t shared_bytes) {
  return active_blocks(blocks, function, block_size, shared_bytes, 0);
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function, int block_size,
                                                              size_t shared_bytes, unsigned int flags) {
  return active_blocks(blocks, function, block_size, shared_bytes, flags);
}
CUresult cuOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size, CUfunction function,
                                          CUoccupancyB2DSize shared_bytes_of_block, size_t shared_bytes,
                                          int block_size_limit) {
  return best_block(grid_size, block_size, function, shared_bytes_of_block, shared_bytes, block_size_limit);
}
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid_size, int* block_size, CUfunction function,
                                                   CUoccupancyB2DSize shared_bytes_of_block, size_t shared_bytes,
                                                   int block_size_limit, unsigned int flags) {
  DRIVER_CHECK(flags <= 1, "unknown flags");
  return best_block(grid_size, block_size, function, shared_bytes_of_block, shared_bytes, block_size_limit);
}
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* shared_bytes, CUfunction handle, int blocks, int block_size) {
  DRIVER_CHECK(shared_bytes && blocks > 0 && block_size > 0, "no place for the size, or a number that is not positive");
  DRIVER_ASSIGN(const Ref<Function> function, find_function(handle));
  const compiler::KernelInfo& info = function->info();
  DRIVER_CHECK(resident_blocks(info, static_cast<unsigned>(block_size), 0) >= blocks,
               "so many blocks don't fit on a multiprocessor");
  const std::size_t share = static_cast<std::size_t>(kSharedPerMultiprocessor / blocks) / 128 * 128;
  const std::size_t taken = info.static_shared_bytes + kReservedShared;
  *shared_bytes = share > taken
                      ? std::min(share - taken, static_cast<std::size_t>(kMaxSharedPerBlock) - info.static_shared_bytes)
                      : 0;
  return CUDA_SUCCESS;
}

}  // namespace impl
}  // namespace heddle::driver

// Device memory: allocation, free, information, address ranges. Tested by tests/api/driver/memory_test.cc.
#include "driver/memory.h"

#include "driver/pool.h"
#include "driver/virtual_memory.h"
#include "exec/print.h"

namespace heddle::driver {

std::optional<Allocation> find_allocation(std::uintptr_t address) {
  for (int i = 0; i < device_count(); ++i) {
    exec::DeviceMemory& memory = find_device(i)->execution.memory();
    if (!memory.contains(address)) continue;
    const auto range = memory.find(address);
    if (!range) return std::nullopt;
    Allocation found;
    found.begin = range->begin;
    found.bytes = range->bytes;
    found.device = i;
    found.tag = memory.find_tag(address).value_or(0);
    return found;
  }
  if (const auto host = exec::HostMemory::instance().find(address)) {
    Allocation found;
    found.kind = host->kind == exec::HostAllocation::Kind::kManaged  ? Allocation::Kind::kManaged
                 : host->kind == exec::HostAllocation::Kind::kPinned ? Allocation::Kind::kPinned
                                                                     : Allocation::Kind::kRegistered;
    found.begin = host->begin;
    found.bytes = host->bytes;
    found.device = host->device;
    found.tag = host->tag;
    found.flags = host->flags;
    found.host = *host;
    return found;
  }
  return find_mapping(address);
}

Status check_range(std::uintptr_t address, std::size_t bytes) {
  const auto found = find_allocation(address);
  if (!found) return Status(ErrorCode::kInvalidValue, "an address that is in no allocation");
  if (found->covers(address, bytes)) return {};
  // Mappings of virtual memory may lie side by side.
  if (found->kind == Allocation::Kind::kMapped && find_mapping(address + bytes - 1)) return {};
  return Status(ErrorCode::kInvalidValue, "the range goes past the end of the allocation");
}

Status free_memory(std::uintptr_t address) {
  if (address == 0) return {};
  const auto found = find_allocation(address);
  if (!found || found->begin != address) return Status(ErrorCode::kInvalidValue, "not the start of an allocation");
  if (found->kind != Allocation::Kind::kDevice && found->kind != Allocation::Kind::kManaged)
    return Status(ErrorCode::kInvalidValue, "not memory of cuMemAlloc or cuMemAllocManaged");
  // As NVIDIA's driver does: whoever frees waits for what may still use the memory.
  Context::current()->streams().synchronize();
  exec::flush_device_output();
  if (found->kind == Allocation::Kind::kManaged)
    return exec::HostMemory::instance().remove(address, exec::HostAllocation::Kind::kManaged);
  forget_pool_block(address);
  return find_device(found->device)->execution.memory().free(address);
}

namespace impl {

CUresult cuMemAlloc_v2(CUdeviceptr* pointer, size_t bytes) {
  DRIVER_CHECK(pointer, "no place for the address");
  Context& context = *Context::current();
  auto address = context.memory().allocate(bytes, context.new_tag());
  if (!address && address.error().code() == ErrorCode::kOutOfMemory) {
    release_cached_blocks(context.device());
    address = context.memory().allocate(bytes, context.new_tag());
  }
  if (!address) return result_of(address.error());
  *pointer = *address;
  return CUDA_SUCCESS;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* pointer, size_t* pitch, size_t width, size_t height,
                            unsigned int element_bytes) {
  DRIVER_CHECK(pointer && pitch, "no place for address and pitch");
  DRIVER_CHECK(width && height, "width and height must not be 0");
  DRIVER_CHECK(element_bytes == 4 || element_bytes == 8 || element_bytes == 16, "element size must be 4, 8 or 16");
  const size_t row = (width + 511) / 512 * 512;
  if (row < width || height > ~size_t{0} / row) return fail(ErrorCode::kOutOfMemory, "the sizes overflow");
  if (const CUresult failed = impl::cuMemAlloc_v2(pointer, row * height); failed != CUDA_SUCCESS) return failed;
  *pitch = row;
  return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr pointer) { return result_of(free_memory(pointer)); }

CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  DRIVER_CHECK(free_bytes || total_bytes, "no place for the sizes");
  const exec::DeviceMemory& memory = Context::current()->memory();
  if (free_bytes) *free_bytes = memory.capacity() - memory.used();
  if (total_bytes) *total_bytes = memory.capacity();
  return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* size, CUdeviceptr pointer) {
  const auto found = find_allocation(pointer);
  if (!found) return fail(ErrorCode::kNotFound, "an address that is in no allocation");
  if (base) *base = found->begin;
  if (size) *size = found->bytes;
  return CUDA_SUCCESS;
}

}  // namespace impl
}  // namespace heddle::driver

// Pinned and registered host memory. Mapped or not, the device reads host memory at its own address.
// Tested by tests/api/driver/memory_test.cc.
#include "driver/memory.h"

namespace heddle::driver {
namespace {

constexpr unsigned kAllocFlags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
constexpr unsigned kRegisterFlags = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                                    CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;

exec::HostAllocation describe(exec::HostAllocation::Kind kind, size_t bytes, unsigned flags) {
  Context& context = *Context::current();
  exec::HostAllocation allocation;
  allocation.kind = kind;
  allocation.bytes = bytes;
  allocation.flags = flags;
  allocation.tag = context.new_tag();
  allocation.device = context.device().ordinal;
  return allocation;
}

CUresult allocate(void** pointer, size_t bytes, unsigned flags) {
  DRIVER_CHECK(pointer, "no place for the address");
  DRIVER_CHECK((flags & ~kAllocFlags) == 0, "unknown flags");
  DRIVER_ASSIGN(const std::uintptr_t address,
                exec::HostMemory::instance().allocate(describe(exec::HostAllocation::Kind::kPinned, bytes, flags)));
  *pointer = reinterpret_cast<void*>(address);
  return CUDA_SUCCESS;
}

}  // namespace

namespace impl {

CUresult cuMemAllocHost_v2(void** pointer, size_t bytes) { return allocate(pointer, bytes, CU_MEMHOSTALLOC_DEVICEMAP); }
CUresult cuMemHostAlloc(void** pointer, size_t bytes, unsigned int flags) { return allocate(pointer, bytes, flags); }

CUresult cuMemFreeHost(void* pointer) {
  if (!pointer) return fail(ErrorCode::kInvalidValue, "null is no pinned memory");
  const auto found = find_allocation(reinterpret_cast<std::uintptr_t>(pointer));
  DRIVER_CHECK(
      found && found->kind == Allocation::Kind::kPinned && found->begin == reinterpret_cast<std::uintptr_t>(pointer),
      "not the start of pinned memory");
  Context::current()->streams().synchronize();
  return result_of(exec::HostMemory::instance().remove(reinterpret_cast<std::uintptr_t>(pointer),
                                                       exec::HostAllocation::Kind::kPinned));
}

CUresult cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned int flags) {
  DRIVER_CHECK(pointer && bytes, "null or empty range");
  DRIVER_CHECK((flags & ~kRegisterFlags) == 0, "unknown flags");
  exec::HostAllocation allocation = describe(exec::HostAllocation::Kind::kRegistered, bytes, flags);
  allocation.begin = reinterpret_cast<std::uintptr_t>(pointer);
  return result_of(exec::HostMemory::instance().add_registered(allocation));
}
CUresult cuMemHostRegister(void* pointer, size_t bytes, unsigned int flags) {
  return impl::cuMemHostRegister_v2(pointer, bytes, flags);
}
CUresult cuMemHostUnregister(void* pointer) {
  DRIVER_CHECK(pointer, "null pointer");
  const auto found = find_allocation(reinterpret_cast<std::uintptr_t>(pointer));
  if (!found || found->kind != Allocation::Kind::kRegistered ||
      found->begin != reinterpret_cast<std::uintptr_t>(pointer))
    return fail(ErrorCode::kHostMemoryNotRegistered, "not the start of registered memory");
  Context::current()->streams().synchronize();
  return result_of(exec::HostMemory::instance().remove(found->begin, exec::HostAllocation::Kind::kRegistered));
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* pointer, void* host, unsigned int flags) {
  DRIVER_CHECK(pointer && flags == 0, "no place for the address, or flags that are not 0");
  const auto found = find_allocation(reinterpret_cast<std::uintptr_t>(host));
  DRIVER_CHECK(found && found->is_host(), "not pinned, registered or managed memory");
  *pointer = reinterpret_cast<CUdeviceptr>(host);
  return CUDA_SUCCESS;
}
CUresult cuMemHostGetFlags(unsigned int* flags, void* pointer) {
  DRIVER_CHECK(flags, "no place for the flags");
  const auto found = find_allocation(reinterpret_cast<std::uintptr_t>(pointer));
  DRIVER_CHECK(found && found->is_host(), "not pinned or registered memory");
  *flags = found->flags;
  return CUDA_SUCCESS;
}

}  // namespace impl
}  // namespace heddle::driver

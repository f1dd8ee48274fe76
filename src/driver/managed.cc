// Managed memory: ordinary memory that host and kernels use alike. Advice and prefetches are kept and reported; they
// move nothing. Tested by tests/api/driver/memory_test.cc.
#include <cstring>

#include "driver/memory.h"
#include "driver/stream.h"

namespace heddle::driver {
namespace {

int id_of(const CUmemLocation& location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: return location.id;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: return CU_DEVICE_CPU;
    default: return CU_DEVICE_INVALID;
  }
}

bool is_place(int device) { return device == CU_DEVICE_CPU || find_device(device); }

CUresult prefetch(CUdeviceptr pointer, size_t count, int destination, CUstream handle) {
  DRIVER_CHECK(count, "empty range");
  if (!is_place(destination)) return fail(ErrorCode::kInvalidDevice, "no such device");
  const Ref<Stream> stream = find_stream(handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, "stale or foreign stream");
  const auto found = find_allocation(pointer);
  DRIVER_CHECK(found && found->covers(pointer, count), "not one range of managed memory");
  DRIVER_CHECK(found->kind == Allocation::Kind::kManaged || found->kind == Allocation::Kind::kRegistered ||
                   found->kind == Allocation::Kind::kPinned,
               "not managed memory");
  return enqueue(*stream,
                 make_ref<FunctionOperation>(CU_GRAPH_NODE_TYPE_EMPTY,
                                             [pointer, destination](Context&) {
                                               exec::HostMemory::instance().update(
                                                   pointer, [destination](exec::HostAllocation& allocation) {
                                                     allocation.last_prefetch = destination;
                                                   });
                                             }),
                 Effort::kShort);
}

CUresult advise(CUdeviceptr pointer, size_t count, CUmem_advise advice, int device) {
  DRIVER_CHECK(count, "empty range");
  const auto found = find_allocation(pointer);
  DRIVER_CHECK(found && found->covers(pointer, count) && found->is_host(), "not one range of managed memory");
  const bool names_place = advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION || advice == CU_MEM_ADVISE_SET_ACCESSED_BY ||
                           advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
  if (names_place && !is_place(device)) return fail(ErrorCode::kInvalidDevice, "no such device");
  DRIVER_CHECK(advice >= CU_MEM_ADVISE_SET_READ_MOSTLY && advice <= CU_MEM_ADVISE_UNSET_ACCESSED_BY, "unknown advice");
  exec::HostMemory::instance().update(pointer, [&](exec::HostAllocation& allocation) {
    switch (advice) {
      case CU_MEM_ADVISE_SET_READ_MOSTLY: allocation.read_mostly = true; break;
      case CU_MEM_ADVISE_UNSET_READ_MOSTLY: allocation.read_mostly = false; break;
      case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: allocation.preferred_location = device; break;
      case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: allocation.preferred_location = CU_DEVICE_INVALID; break;
      default: break;
    }
  });
  return CUDA_SUCCESS;
}

CUresult range_attribute(void* data, size_t size, CUmem_range_attribute attribute, CUdeviceptr pointer, size_t count) {
  DRIVER_CHECK(data && size && count, "no place for the value, or an empty range");
  const auto found = find_allocation(pointer);
  DRIVER_CHECK(found && found->covers(pointer, count) && found->is_host(), "not one range of managed memory");
  int value = 0;
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: value = found->host.read_mostly; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: value = found->host.preferred_location; break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: value = found->host.last_prefetch; break;
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY: {
      auto* const list = static_cast<int*>(data);
      for (size_t i = 0; i < size / sizeof(int); ++i) list[i] = CU_DEVICE_INVALID;
      return CUDA_SUCCESS;
    }
    default: return fail(ErrorCode::kInvalidValue, "unknown range attribute");
  }
  DRIVER_CHECK(size == sizeof(int), "the value has 4 bytes");
  std::memcpy(data, &value, sizeof value);
  return CUDA_SUCCESS;
}

}  // namespace

namespace impl {

CUresult cuMemAllocManaged(CUdeviceptr* pointer, size_t bytes, unsigned int flags) {
  DRIVER_CHECK(pointer, "no place for the address");
  DRIVER_CHECK(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST, "flags must be global or host");
  Context& context = *Context::current();
  exec::HostAllocation allocation;
  allocation.kind = exec::HostAllocation::Kind::kManaged;
  allocation.bytes = bytes;
  allocation.flags = flags;
  allocation.tag = context.new_tag();
  allocation.device = context.device().ordinal;
  DRIVER_ASSIGN(const std::uintptr_t address, exec::HostMemory::instance().allocate(allocation));
  *pointer = address;
  return CUDA_SUCCESS;
}

CUresult cuMemPrefetchAsync(CUdeviceptr pointer, size_t count, CUdevice destination, CUstream stream) {
  return prefetch(pointer, count, destination, stream);
}
CUresult cuMemPrefetchAsync_v2(CUdeviceptr pointer, size_t count, CUmemLocation location, unsigned int flags,
                               CUstream stream) {
  DRIVER_CHECK(flags == 0, "flags must be 0");
  return prefetch(pointer, count, id_of(location), stream);
}
CUresult cuMemAdvise(CUdeviceptr pointer, size_t count, CUmem_advise advice, CUdevice device) {
  return advise(pointer, count, advice, device);
}
CUresult cuMemAdvise_v2(CUdeviceptr pointer, size_t count, CUmem_advise advice, CUmemLocation location) {
  return advise(pointer, count, advice, id_of(location));
}
CUresult cuMemRangeGetAttribute(void* data, size_t size, CUmem_range_attribute attribute, CUdeviceptr pointer,
                                size_t count) {
  return range_attribute(data, size, attribute, pointer, count);
}
CUresult cuMemRangeGetAttributes(void** data, size_t* sizes, CUmem_range_attribute* attributes, size_t attribute_count,
                                 CUdeviceptr pointer, size_t count) {
  DRIVER_CHECK(data && sizes && attributes && attribute_count, "no attributes");
  for (size_t i = 0; i < attribute_count; ++i)
    if (const CUresult failed = range_attribute(data[i], sizes[i], attributes[i], pointer, count);
        failed != CUDA_SUCCESS)
      return failed;
  return CUDA_SUCCESS;
}

}  // namespace impl
}  // namespace heddle::driver

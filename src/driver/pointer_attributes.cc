// What an address is. Tested by tests/api/driver/memory_test.cc.
#include <cstring>

#include "driver/memory.h"

namespace heddle::driver {
namespace {

// The context that made an allocation; null for memory of a pool or a context that is gone.
Context* context_of(const Allocation& found) {
  Context* const current = Context::current();
  if (current && (found.tag & Context::kTagMask) == current->tag()) return current;
  Device* const device = find_device(found.device);
  return device ? device->primary.get() : nullptr;
}

template <class T>
void put(void* data, T value) {
  std::memcpy(data, &value, sizeof value);
}

Status attribute_of(CUdeviceptr pointer, const std::optional<Allocation>& found, CUpointer_attribute attribute,
                    void* data) {
  const bool device_memory = found && !found->is_host();
  const bool managed = found && found->kind == Allocation::Kind::kManaged;
  if (!found) {
    // Two questions have an answer for every address; the others are refused.
    if (attribute == CU_POINTER_ATTRIBUTE_IS_MANAGED || attribute == CU_POINTER_ATTRIBUTE_MAPPED) {
      put<int>(data, 0);
      return {};
    }
    return Status(ErrorCode::kInvalidValue, "an address that is in no allocation");
  }
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      put<CUcontext>(data, context_of(*found) ? handle_of<CUcontext>(context_of(*found)) : nullptr);
      return {};
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      put<CUmemorytype>(data, device_memory || managed ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST);
      return {};
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: put<CUdeviceptr>(data, pointer); return {};
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (device_memory) return Status(ErrorCode::kInvalidValue, "device memory has no host address");
      put<CUdeviceptr>(data, pointer);
      return {};
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: put<int>(data, 0); return {};
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: put<unsigned long long>(data, found->tag); return {};
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: put<int>(data, managed); return {};
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: put<int>(data, found->device); return {};
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: put<int>(data, 0); return {};
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: put<CUdeviceptr>(data, found->begin); return {};
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: put<size_t>(data, found->bytes); return {};
    case CU_POINTER_ATTRIBUTE_MAPPED: put<int>(data, 1); return {};
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: put<int>(data, 0); return {};
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: put<int>(data, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE); return {};
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: put<void*>(data, nullptr); return {};
    default: return Status(ErrorCode::kInvalidValue, "unknown pointer attribute");
  }
}

}  // namespace

namespace impl {

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer) {
  DRIVER_CHECK(data, "no place for the value");
  return result_of(attribute_of(pointer, find_allocation(pointer), attribute, data));
}
CUresult cuPointerGetAttributes(unsigned int attribute_count, CUpointer_attribute* attributes, void** data,
                                CUdeviceptr pointer) {
  DRIVER_CHECK(attribute_count && attributes && data, "no attributes, or no place for their values");
  const auto found = find_allocation(pointer);
  for (unsigned i = 0; i < attribute_count; ++i) {
    DRIVER_CHECK(data[i], "no place for a value");
    if (attribute_of(pointer, found, attributes[i], data[i]).ok()) continue;
    // For an address that CUDA does not know the manual promises zeros and success.
    switch (attributes[i]) {
      case CU_POINTER_ATTRIBUTE_CONTEXT:
      case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      case CU_POINTER_ATTRIBUTE_BUFFER_ID: put<unsigned long long>(data[i], 0); break;
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: put<int>(data[i], CU_DEVICE_INVALID); break;
      default: put<int>(data[i], 0); break;
    }
  }
  return CUDA_SUCCESS;
}
CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr pointer) {
  DRIVER_CHECK(value && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, "only SYNC_MEMOPS can be set");
  DRIVER_CHECK(find_allocation(pointer), "an address that is in no allocation");
  return CUDA_SUCCESS;
}

}  // namespace impl
}  // namespace heddle::driver

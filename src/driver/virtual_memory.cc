// Virtual memory management: physical memory is a memory file, a mapping is a view of it, so one handle may be mapped
// at several addresses as on a GPU. Tested by tests/api/driver/virtual_memory_test.cc.
#include "driver/virtual_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>

namespace heddle::driver {
namespace {

constexpr std::size_t kGranularity = 2u << 20;

class MemoryHandle final : public Object {
 public:
  static constexpr Tag kTag = Tag::kMemoryHandle;
  MemoryHandle(int file, std::size_t bytes, const CUmemAllocationProp& properties)
      : Object(Tag::kMemoryHandle, nullptr), file(file), bytes(bytes), properties(properties) {}
  ~MemoryHandle() override { ::close(file); }
  const int file;
  const std::size_t bytes;
  const CUmemAllocationProp properties;
  std::atomic<int> references{1};  ///< of the API: cuMemCreate, cuMemRetainAllocationHandle
};

struct Mapping {
  std::size_t bytes = 0;
  Ref<MemoryHandle> handle;
  int protection = PROT_NONE;
};

struct Space {
  Mutex mutex;
  std::map<std::uintptr_t, std::size_t> reservations GUARDED_BY(mutex);
  std::map<std::uintptr_t, Mapping> mappings GUARDED_BY(mutex);
};
Space& space() {
  static Space* const kSpace = new Space;
  return *kSpace;
}

Ref<MemoryHandle> find_handle(CUmemGenericAllocationHandle handle) {
  return find_object<MemoryHandle>(reinterpret_cast<const void*>(static_cast<std::uintptr_t>(handle)));
}

bool is_multiple(std::uint64_t value) { return value % kGranularity == 0; }

// The entry of an ordered map that contains the address, or end().
template <class Map, class Bytes>
auto containing(Map& map, std::uintptr_t address, Bytes bytes) {
  auto after = map.upper_bound(address);
  if (after == map.begin()) return map.end();
  --after;
  return address - after->first < bytes(after->second) ? after : map.end();
}

Status check_properties(const CUmemAllocationProp* p) {
  if (!p || p->type != CU_MEM_ALLOCATION_TYPE_PINNED)
    return Status(ErrorCode::kInvalidValue, "the type must be pinned");
  if (p->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return Status(ErrorCode::kNotSupported, "memory handles are of device memory only");
  if (!find_device(p->location.id)) return Status(ErrorCode::kInvalidDevice, "no device with this number");
  if (p->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE)
    return Status(ErrorCode::kNotSupported, "memory handles can't be shared between processes yet");
  return {};
}

void wait_for_device() {
  if (Context* const context = Context::current()) context->streams().synchronize();
}

}  // namespace

std::optional<Allocation> find_mapping(std::uintptr_t address) {
  Space& s = space();
  MutexLock lock(s.mutex);
  const auto mapping = containing(s.mappings, address, [](const Mapping& m) { return m.bytes; });
  if (mapping == s.mappings.end()) return std::nullopt;
  Allocation found;
  found.kind = Allocation::Kind::kMapped;
  found.begin = mapping->first;
  found.bytes = mapping->second.bytes;
  found.device = mapping->second.handle->properties.location.id;
  return found;
}

namespace impl {

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags) {
  DRIVER_CHECK(granularity, "no place for the granularity");
  DRIVER_TRY(check_properties(properties));
  *granularity = kGranularity;
  return CUDA_SUCCESS;
}
CUresult cuMemAddressReserve(CUdeviceptr* pointer, size_t size, size_t alignment, CUdeviceptr address,
                             unsigned long long flags) {
  DRIVER_CHECK(pointer && size && flags == 0, "no place for the address, no size, or flags that are not 0");
  DRIVER_CHECK(is_multiple(size), "the size must be a multiple of the granularity");
  DRIVER_CHECK((alignment & (alignment - 1)) == 0, "the alignment must be a power of 2");
  const std::size_t align = std::max<std::size_t>(alignment, kGranularity);
  const auto hint = address && address % align == 0 ? static_cast<std::uintptr_t>(address) : 0;
  void* memory = ::mmap(reinterpret_cast<void*>(hint), size + align, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return fail(ErrorCode::kOutOfMemory, "the address space is full");
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t aligned = (begin + align - 1) / align * align;
  if (aligned > begin) ::munmap(memory, aligned - begin);
  if (begin + align > aligned) ::munmap(reinterpret_cast<void*>(aligned + size), begin + align - aligned);
  Space& s = space();
  MutexLock lock(s.mutex);
  s.reservations[aligned] = size;
  *pointer = aligned;
  return CUDA_SUCCESS;
}
CUresult cuMemAddressFree(CUdeviceptr pointer, size_t size) {
  Space& s = space();
  MutexLock lock(s.mutex);
  const auto found = s.reservations.find(pointer);
  DRIVER_CHECK(found != s.reservations.end() && found->second == size, "not a reserved range");
  const auto mapping = s.mappings.lower_bound(pointer);
  DRIVER_CHECK(mapping == s.mappings.end() || mapping->first >= pointer + size, "memory is still mapped there");
  ::munmap(reinterpret_cast<void*>(static_cast<std::uintptr_t>(pointer)), size);
  s.reservations.erase(found);
  return CUDA_SUCCESS;
}
CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size, const CUmemAllocationProp* properties,
                     unsigned long long flags) {
  DRIVER_CHECK(handle && size && flags == 0, "no place for the handle, no size, or flags that are not 0");
  DRIVER_TRY(check_properties(properties));
  DRIVER_CHECK(is_multiple(size), "the size must be a multiple of the granularity");
  if (size > find_device(properties->location.id)->execution.memory().capacity())
    return fail(ErrorCode::kOutOfMemory, "more than the device's memory");
  const int file = ::memfd_create("heddle-device-memory", MFD_CLOEXEC);
  if (file < 0) return fail(ErrorCode::kOutOfMemory, "the system gives no memory file");
  if (::ftruncate(file, static_cast<off_t>(size)) != 0) {
    ::close(file);
    return fail(ErrorCode::kOutOfMemory, "the system has no more memory");
  }
  const auto made = make_ref<MemoryHandle>(file, size, *properties);
  *handle = reinterpret_cast<std::uintptr_t>(publish<void*>(made));
  return CUDA_SUCCESS;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  const Ref<MemoryHandle> memory = find_handle(handle);
  DRIVER_CHECK(memory, "null, stale or foreign memory handle");
  if (memory->references.fetch_sub(1) == 1) registry::remove(memory.get());
  return CUDA_SUCCESS;
}
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  DRIVER_CHECK(handle, "no place for the handle");
  Space& s = space();
  MutexLock lock(s.mutex);
  const auto mapping =
      containing(s.mappings, reinterpret_cast<std::uintptr_t>(address), [](const Mapping& m) { return m.bytes; });
  DRIVER_CHECK(mapping != s.mappings.end(), "nothing is mapped there");
  MemoryHandle* const memory = mapping->second.handle.get();
  if (memory->references.fetch_add(1) == 0) registry::add(memory);
  *handle = reinterpret_cast<std::uintptr_t>(handle_of<void*>(memory));
  return CUDA_SUCCESS;
}
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties, CUmemGenericAllocationHandle handle) {
  const Ref<MemoryHandle> memory = find_handle(handle);
  DRIVER_CHECK(memory && properties, "null, stale or foreign memory handle");
  *properties = memory->properties;
  return CUDA_SUCCESS;
}
CUresult cuMemMap(CUdeviceptr pointer, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  const Ref<MemoryHandle> memory = find_handle(handle);
  DRIVER_CHECK(memory && flags == 0, "null, stale or foreign memory handle, or flags that are not 0");
  DRIVER_CHECK(size && is_multiple(size) && is_multiple(offset) && is_multiple(pointer),
               "address, size and offset must be multiples of the granularity");
  DRIVER_CHECK(offset <= memory->bytes && size <= memory->bytes - offset, "past the end of the memory");
  Space& s = space();
  MutexLock lock(s.mutex);
  const auto range = containing(s.reservations, pointer, [](std::size_t bytes) { return bytes; });
  DRIVER_CHECK(range != s.reservations.end() && pointer + size <= range->first + range->second, "not a reserved range");
  const auto next = s.mappings.lower_bound(pointer);
  DRIVER_CHECK((next == s.mappings.end() || next->first >= pointer + size) &&
                   containing(s.mappings, pointer, [](const Mapping& m) { return m.bytes; }) == s.mappings.end(),
               "something is mapped there already");
  void* const at = reinterpret_cast<void*>(static_cast<std::uintptr_t>(pointer));
  if (::mmap(at, size, PROT_NONE, MAP_SHARED | MAP_FIXED, memory->file, static_cast<off_t>(offset)) == MAP_FAILED)
    return fail(ErrorCode::kOutOfMemory, "the system has no more memory mappings");
  s.mappings[pointer] = {size, memory, PROT_NONE};
  return CUDA_SUCCESS;
}
CUresult cuMemUnmap(CUdeviceptr pointer, size_t size) {
  wait_for_device();
  Space& s = space();
  MutexLock lock(s.mutex);
  // Whole mappings only, as many as the range holds.
  std::size_t covered = 0;
  for (auto m = s.mappings.lower_bound(pointer); m != s.mappings.end() && m->first < pointer + size; ++m)
    covered += m->second.bytes;
  DRIVER_CHECK(size && covered == size && s.mappings.contains(pointer), "not a range of whole mappings");
  void* const at = reinterpret_cast<void*>(static_cast<std::uintptr_t>(pointer));
  if (::mmap(at, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
    return fail(ErrorCode::kOperatingSystem, "the system refuses to unmap");
  s.mappings.erase(s.mappings.lower_bound(pointer), s.mappings.lower_bound(pointer + size));
  return CUDA_SUCCESS;
}
CUresult cuMemSetAccess(CUdeviceptr pointer, size_t size, const CUmemAccessDesc* descriptor, size_t count) {
  DRIVER_CHECK(size && descriptor && count, "no range, or no descriptors");
  int protection = PROT_NONE;
  for (size_t i = 0; i < count; ++i) {
    if (descriptor[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || !find_device(descriptor[i].location.id))
      return fail(ErrorCode::kInvalidDevice, "no such device");
    if (descriptor[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READ) protection |= PROT_READ;
    if (descriptor[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE) protection |= PROT_READ | PROT_WRITE;
  }
  Space& s = space();
  MutexLock lock(s.mutex);
  std::uintptr_t at = pointer;
  for (auto m = s.mappings.find(pointer); m != s.mappings.end() && m->first == at && at < pointer + size; ++m)
    at += m->second.bytes;
  DRIVER_CHECK(at == pointer + size, "not a range of whole mappings");
  if (::mprotect(reinterpret_cast<void*>(static_cast<std::uintptr_t>(pointer)), size, protection) != 0)
    return fail(ErrorCode::kOperatingSystem, "the system refuses to change access");
  for (auto m = s.mappings.find(pointer); m != s.mappings.end() && m->first < pointer + size; ++m)
    m->second.protection = protection;
  return CUDA_SUCCESS;
}
CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr pointer) {
  DRIVER_CHECK(flags && location, "no place for the flags, or no location");
  Space& s = space();
  MutexLock lock(s.mutex);
  const auto mapping = containing(s.mappings, pointer, [](const Mapping& m) { return m.bytes; });
  DRIVER_CHECK(mapping != s.mappings.end(), "nothing is mapped there");
  const int protection = mapping->second.protection;
  *flags = protection & PROT_WRITE  ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
           : protection & PROT_READ ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                    : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return CUDA_SUCCESS;
}

}  // namespace impl
}  // namespace heddle::driver

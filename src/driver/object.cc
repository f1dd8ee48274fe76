#include "driver/object.h"

#include <unordered_map>

#include "base/mutex.h"

namespace heddle::driver {

Object::~Object() { tag_ = static_cast<Tag>(0); }

namespace registry {
namespace {

// Handles of several streams and functions are looked up by several threads at once: shards keep them apart.
constexpr std::size_t kShards = 16;
struct alignas(64) Shard {
  Mutex mutex;
  std::unordered_map<const void*, Ref<Object>> objects GUARDED_BY(mutex);
};

Shard* shards() {
  static Shard* const kAll = new Shard[kShards];  // leaked: handles are looked up in exit handlers
  return kAll;
}
Shard& shard_of(const void* handle) { return shards()[(reinterpret_cast<std::uintptr_t>(handle) >> 6) % kShards]; }

}  // namespace

void add(Object* object) {
  Shard& shard = shard_of(object);
  MutexLock lock(shard.mutex);
  shard.objects[object] = Ref<Object>(object);
}

bool remove(Object* object) {
  Ref<Object> last;  // released outside the lock
  Shard& shard = shard_of(object);
  MutexLock lock(shard.mutex);
  const auto found = shard.objects.find(object);
  if (found == shard.objects.end()) return false;
  last = std::move(found->second);
  shard.objects.erase(found);
  return true;
}

std::vector<Ref<Object>> remove_all(const Context* owner) {
  std::vector<Ref<Object>> removed;
  for (std::size_t i = 0; i < kShards; ++i) {
    Shard& shard = shards()[i];
    MutexLock lock(shard.mutex);
    for (auto entry = shard.objects.begin(); entry != shard.objects.end();) {
      if (entry->second->owner() == owner) {
        removed.push_back(std::move(entry->second));
        entry = shard.objects.erase(entry);
      } else {
        ++entry;
      }
    }
  }
  return removed;
}

Ref<Object> find(const void* handle, Tag tag) {
  Shard& shard = shard_of(handle);
  MutexLock lock(shard.mutex);
  const auto found = shard.objects.find(handle);
  if (found == shard.objects.end() || found->second->tag() != tag) return {};
  return found->second;
}

}  // namespace registry
}  // namespace heddle::driver

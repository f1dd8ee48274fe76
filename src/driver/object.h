// API objects and their handles. A handle is the bare pointer to an object; every live object is in one registry, so a
// stale, foreign or null handle is found out without being dereferenced. Work in flight holds a Ref.
// Tested by tests/api/driver/context_test.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ref.h"

namespace heddle::driver {

enum class Tag : std::uint32_t {
  kContext = 0x48430001,
  kStream,
  kEvent,
  kModule,
  kFunction,
  kLibrary,
  kKernel,
  kPool,
  kArray,
  kMipmappedArray,
  kTexture,
  kSurface,
  kGraph,
  kGraphNode,
  kGraphExec,
  kLinkState,
  kMemoryHandle,
  kUserObject,
};

class Context;

class Object : public RefCounted {
 public:
  Tag tag() const { return tag_; }
  /// The context that owns the object; null for what belongs to the process.
  Context* owner() const { return owner_; }

 protected:
  Object(Tag tag, Context* owner) : tag_(tag), owner_(owner) {}
  ~Object() override;

 private:
  Tag tag_;
  Context* owner_;
};

namespace registry {
/// Makes the object's address a valid handle, and holds a reference until remove().
void add(Object* object);
/// False if it was not there (any more): somebody else has removed it.
bool remove(Object* object);
/// Removes (and returns) all objects of a context.
std::vector<Ref<Object>> remove_all(const Context* owner);
Ref<Object> find(const void* handle, Tag tag);
}  // namespace registry

/// The object behind a handle, or an empty reference. T::kTag is its tag.
template <class T>
Ref<T> find_object(const void* handle) {
  if (!handle) return {};
  const Ref<Object> object = registry::find(handle, T::kTag);
  return Ref<T>(static_cast<T*>(object.get()));
}

/// Puts a new object into the registry and gives its handle.
template <class Handle, class T>
Handle publish(const Ref<T>& object) {
  registry::add(object.get());
  return reinterpret_cast<Handle>(static_cast<Object*>(object.get()));
}
template <class Handle, class T>
Handle handle_of(T* object) {
  return reinterpret_cast<Handle>(static_cast<Object*>(object));
}

}  // namespace heddle::driver

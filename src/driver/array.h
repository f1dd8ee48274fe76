// CUDA arrays: elements of 1 to 4 channels in rows, as plain memory. Tested by tests/api/driver/copy_test.cc.
#pragma once

#include <cstdint>

#include "driver/context.h"

namespace heddle::driver {

class Array final : public Object {
 public:
  static constexpr Tag kTag = Tag::kArray;
  Array(Context* context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor, std::uintptr_t data)
      : Object(Tag::kArray, context), descriptor_(descriptor), data_(data) {}
  ~Array() override;

  const CUDA_ARRAY3D_DESCRIPTOR& descriptor() const { return descriptor_; }
  std::uintptr_t data() const { return data_; }
  std::size_t element_bytes() const;
  std::size_t row_bytes() const { return descriptor_.Width * element_bytes(); }
  std::size_t pitch() const { return (row_bytes() + 31) / 32 * 32; }
  std::size_t rows() const { return descriptor_.Height ? descriptor_.Height : 1; }
  std::size_t slices() const { return descriptor_.Depth ? descriptor_.Depth : 1; }
  std::size_t bytes() const { return pitch() * rows() * slices(); }

 private:
  CUDA_ARRAY3D_DESCRIPTOR descriptor_;
  std::uintptr_t data_;
};

}  // namespace heddle::driver

// Copies in one to three dimensions, between any two places. Tested by tests/api/driver/copy_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "driver/graph.h"
#include "driver/stream.h"

namespace heddle::driver {

/// One side of a copy: where its first byte lies, and how far rows and slices are apart.
struct CopySide {
  std::uintptr_t address = 0;
  std::size_t pitch = 0;     ///< bytes from row to row
  std::size_t slice = 0;     ///< bytes from slice to slice
  bool is_pageable = false;  ///< host memory that the API does not know
  Ref<Object> keeps;         ///< an array that must live until the copy has ended
};

struct CopyPlan {
  CopySide destination, source;
  std::size_t width = 0;  ///< bytes of a row
  std::size_t height = 1;
  std::size_t depth = 1;
  std::size_t bytes() const { return width * height * depth; }
};

class CopyOperation final : public Operation {
 public:
  explicit CopyOperation(CopyPlan plan, const CUDA_MEMCPY3D* parameters = nullptr) : plan_(std::move(plan)) {
    if (parameters) parameters_ = *parameters;
  }
  void run(Context& context) override;
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_MEMCPY; }
  const CUDA_MEMCPY3D& parameters() const { return parameters_; }

 private:
  CopyPlan plan_;
  CUDA_MEMCPY3D parameters_ = {};
};

/// The plan of a 3-D copy; checks addresses, arrays and sizes.
Result<CopyPlan> plan_copy(const CUDA_MEMCPY3D& copy);
/// Copies in stream order. Not `async`: returns when the copy has ended.
CUresult copy_in_stream(CUstream stream, CopyPlan plan, bool async, const CUDA_MEMCPY3D* parameters = nullptr);

}  // namespace heddle::driver

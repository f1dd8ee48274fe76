// Fills as stream and graph operations. Tested by tests/api/driver/copy_test.cc.
#pragma once

#include "driver/graph.h"

namespace heddle::driver {

class MemsetOperation final : public Operation {
 public:
  explicit MemsetOperation(const CUDA_MEMSET_NODE_PARAMS& parameters) : parameters_(parameters) {}
  void run(Context& context) override;
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_MEMSET; }
  const CUDA_MEMSET_NODE_PARAMS& parameters() const { return parameters_; }

 private:
  CUDA_MEMSET_NODE_PARAMS parameters_;
};

Status check_fill(const CUDA_MEMSET_NODE_PARAMS& parameters);

}  // namespace heddle::driver

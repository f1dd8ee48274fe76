// Launches as stream and graph operations. Tested by tests/api/driver/launch_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "driver/graph.h"
#include "driver/module.h"

namespace heddle::driver {

struct LaunchShape {
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  std::uint32_t shared_bytes = 0;
  bool cooperative = false;
};

/// A launch that a graph keeps: its arguments are packed.
class KernelOperation final : public Operation {
 public:
  KernelOperation(Ref<Function> function, const LaunchShape& shape, std::vector<std::byte> arguments);
  void run(Context& context) override;
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_KERNEL; }
  const Ref<Function>& function() const { return function_; }
  const LaunchShape& shape() const { return shape_; }
  /// Pointers to the packed arguments, as long as the operation lives.
  void** argument_pointers() const { return const_cast<void**>(pointers_.data()); }

 private:
  Ref<Function> function_;
  LaunchShape shape_;
  std::vector<std::byte> arguments_;
  std::vector<void*> pointers_;
};

/// Checks the launch and packs its arguments.
Result<Ref<KernelOperation>> make_kernel_operation(const Ref<Function>& function, const LaunchShape& shape,
                                                   void** arguments, void** extra);

}  // namespace heddle::driver

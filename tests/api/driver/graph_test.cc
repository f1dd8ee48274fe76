// Graphs built by hand and by capture.
#include "driver.h"

TEST_F(ContextTest, graph_of_four_kinds_of_nodes) {
  CUfunction fill = function(load(kKernels), "fill");
  constexpr unsigned kN = 256;
  CUdeviceptr a = alloc(kN * 4), b = alloc(kN * 4);
  unsigned value = 6, n = kN / 2;
  void* arguments[] = {&a, &value, &n};
  CUgraph graph = nullptr;
  CU_OK(drv::cuGraphCreate(&graph, 0));
  CUgraphNode memset_node = nullptr, kernel_node = nullptr, copy_node = nullptr, host_node = nullptr;
  CUDA_MEMSET_NODE_PARAMS set = {};
  set.dst = a;
  set.value = 1;
  set.elementSize = 4;
  set.width = kN;
  set.height = 1;
  CU_OK(drv::cuGraphAddMemsetNode(&memset_node, graph, nullptr, 0, &set, context));
  CUDA_KERNEL_NODE_PARAMS kernel = {};
  kernel.func = fill;
  kernel.gridDimX = 1;
  kernel.gridDimY = kernel.gridDimZ = kernel.blockDimY = kernel.blockDimZ = 1;
  kernel.blockDimX = kN;
  kernel.kernelParams = arguments;
  CU_OK(drv::cuGraphAddKernelNode_v2(&kernel_node, graph, &memset_node, 1, &kernel));
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = a;
  copy.dstDevice = b;
  copy.WidthInBytes = kN * 4;
  copy.Height = copy.Depth = 1;
  CU_OK(drv::cuGraphAddMemcpyNode(&copy_node, graph, &kernel_node, 1, &copy, context));
  int calls = 0;
  CUDA_HOST_NODE_PARAMS host = {[](void* data) { ++*static_cast<int*>(data); }, &calls};
  CU_OK(drv::cuGraphAddHostNode(&host_node, graph, &copy_node, 1, &host));
  size_t count = 0;
  CU_OK(drv::cuGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 4u);
  CU_OK(drv::cuGraphGetRootNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 1u);
  CUgraphNodeType type;
  CU_OK(drv::cuGraphNodeGetType(kernel_node, &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_KERNEL);
  CUgraphExec executable = nullptr;
  CU_OK(drv::cuGraphInstantiateWithFlags(&executable, graph, 0));
  value = 999;  // the arguments were taken when the node was added
  for (int i = 0; i < 3; ++i) {
    CU_OK(drv::cuGraphLaunch(executable, nullptr));
  }
  CU_OK(drv::cuCtxSynchronize());
  EXPECT_EQ(calls, 3);
  const auto result = read<unsigned>(b, kN);
  EXPECT_EQ(result[kN / 2 - 1], 6u);
  EXPECT_EQ(result[kN / 2], 1u);
  value = 8;
  CU_OK(drv::cuGraphExecKernelNodeSetParams_v2(executable, kernel_node, &kernel));
  CU_OK(drv::cuGraphLaunch(executable, nullptr));
  EXPECT_EQ(read<unsigned>(b, kN)[0], 8u);
  CU_EXPECT(drv::cuGraphAddDependencies(graph, &host_node, &host_node, 1), CUDA_ERROR_INVALID_VALUE);
  CU_OK(drv::cuGraphExecDestroy(executable));
  CU_OK(drv::cuGraphDestroy(graph));
  CU_EXPECT(drv::cuGraphCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ContextTest, captured_streams_fork_and_join) {
  CUmodule module = load(kKernels);
  CUfunction store = function(module, "store");
  CUdeviceptr a = alloc(4), b = alloc(4);
  CU_OK(drv::cuMemsetD32_v2(a, 0, 1));
  CU_OK(drv::cuMemsetD32_v2(b, 0, 1));
  CU_OK(drv::cuCtxSynchronize());
  CUstream first = nullptr, second = nullptr;
  CU_OK(drv::cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
  CU_OK(drv::cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
  CUevent fork = nullptr, join = nullptr;
  CU_OK(drv::cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
  CU_OK(drv::cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
  unsigned one = 1, two = 2;
  CU_EXPECT(drv::cuStreamBeginCapture_v2(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CU_OK(drv::cuStreamBeginCapture_v2(first, CU_STREAM_CAPTURE_MODE_RELAXED));
  CUstreamCaptureStatus status;
  CU_OK(drv::cuStreamIsCapturing(first, &status));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  CU_OK(launch(store, 1, 1, {&a, &one}, first));
  CU_OK(drv::cuEventRecord(fork, first));
  CU_OK(drv::cuStreamWaitEvent(second, fork, 0));
  CU_OK(launch(store, 1, 1, {&b, &two}, second));
  CU_OK(drv::cuEventRecord(join, second));
  CU_OK(drv::cuStreamWaitEvent(first, join, 0));
  CUgraph graph = nullptr;
  CU_OK(drv::cuStreamEndCapture(first, &graph));
  EXPECT_EQ(read<unsigned>(a, 1)[0], 0u);  // nothing has run
  size_t count = 0;
  CU_OK(drv::cuGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 2u);
  CUgraphExec executable = nullptr;
  CU_OK(drv::cuGraphInstantiateWithFlags(&executable, graph, 0));
  CU_OK(drv::cuGraphDestroy(graph));
  CU_OK(drv::cuGraphLaunch(executable, first));
  CU_OK(drv::cuStreamSynchronize(first));
  EXPECT_EQ(read<unsigned>(a, 1)[0], 1u);
  EXPECT_EQ(read<unsigned>(b, 1)[0], 2u);
  CU_OK(drv::cuGraphExecDestroy(executable));
  // What waits can't be captured, and spoils the capture.
  CU_OK(drv::cuStreamBeginCapture_v2(first, CU_STREAM_CAPTURE_MODE_RELAXED));
  CU_EXPECT(drv::cuStreamSynchronize(first), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CU_EXPECT(drv::cuStreamEndCapture(first, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CU_OK(drv::cuStreamIsCapturing(first, &status));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
  CU_EXPECT(drv::cuStreamEndCapture(first, &graph), CUDA_ERROR_ILLEGAL_STATE);
}

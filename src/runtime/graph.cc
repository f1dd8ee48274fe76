// Graphs: creation, nodes, instantiation, launch. Handles are the driver's own; node parameters are translated.
// Tested by tests/api/runtime.
#include "runtime/array.h"
#include "runtime/registration.h"

namespace heddle::runtime {
namespace {

cudaError_t to_kernel_node(const cudaKernelNodeParams& p, CUDA_KERNEL_NODE_PARAMS* d) {
  *d = {};
  CUDA_TRY(find_kernel(p.func, &d->kern));
  CUDA_TRY(prepare_managed_variables());
  d->gridDimX = p.gridDim.x;
  d->gridDimY = p.gridDim.y;
  d->gridDimZ = p.gridDim.z;
  d->blockDimX = p.blockDim.x;
  d->blockDimY = p.blockDim.y;
  d->blockDimZ = p.blockDim.z;
  d->sharedMemBytes = p.sharedMemBytes;
  d->kernelParams = p.kernelParams;
  d->extra = p.extra;
  return cudaSuccess;
}

cudaError_t current_context(CUcontext* context) { return detail::as_runtime(driver().cuCtxGetCurrent(context)); }

cudaMemcpy3DParms linear_copy(void* destination, const void* source, std::size_t count, cudaMemcpyKind kind) {
  cudaMemcpy3DParms p = {};
  p.srcPtr = {const_cast<void*>(source), count, count, 1};
  p.dstPtr = {destination, count, count, 1};
  p.extent = {count, 1, 1};
  p.kind = kind;
  return p;
}

}  // namespace

namespace impl {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags) {
  return detail::as_runtime(driver().cuGraphCreate(graph, flags));
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return detail::as_runtime(driver().cuGraphDestroy(graph)); }
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
  return detail::as_runtime(driver().cuGraphClone(clone, original));
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   size_t dependency_count, const struct cudaKernelNodeParams* parameters) {
  if (!parameters) return cudaErrorInvalidValue;
  CUDA_KERNEL_NODE_PARAMS d;
  CUDA_TRY(to_kernel_node(*parameters, &d));
  return detail::as_runtime(driver().cuGraphAddKernelNode_v2(node, graph, dependencies, dependency_count, &d));
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   size_t dependency_count, const struct cudaMemcpy3DParms* copy) {
  if (!copy) return cudaErrorInvalidValue;
  CUDA_MEMCPY3D d;
  CUDA_TRY(runtime::to_driver(*copy, &d));
  CUcontext context;
  CUDA_TRY(current_context(&context));
  return detail::as_runtime(driver().cuGraphAddMemcpyNode(node, graph, dependencies, dependency_count, &d, context));
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                     size_t dependency_count, void* destination, const void* source, size_t count,
                                     enum cudaMemcpyKind kind) {
  const cudaMemcpy3DParms copy = linear_copy(destination, source, count, kind);
  return impl::cudaGraphAddMemcpyNode(node, graph, dependencies, dependency_count, &copy);
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   size_t dependency_count, const struct cudaMemsetParams* fill) {
  static_assert(sizeof(cudaMemsetParams) == sizeof(CUDA_MEMSET_NODE_PARAMS), "passed through as it is");
  CUcontext context;
  CUDA_TRY(current_context(&context));
  return detail::as_runtime(driver().cuGraphAddMemsetNode(
      node, graph, dependencies, dependency_count, reinterpret_cast<const CUDA_MEMSET_NODE_PARAMS*>(fill), context));
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                 size_t dependency_count, const struct cudaHostNodeParams* parameters) {
  static_assert(sizeof(cudaHostNodeParams) == sizeof(CUDA_HOST_NODE_PARAMS), "passed through as it is");
  return detail::as_runtime(driver().cuGraphAddHostNode(node, graph, dependencies, dependency_count,
                                                        reinterpret_cast<const CUDA_HOST_NODE_PARAMS*>(parameters)));
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                  size_t dependency_count) {
  return detail::as_runtime(driver().cuGraphAddEmptyNode(node, graph, dependencies, dependency_count));
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                       size_t dependency_count, cudaGraph_t child) {
  return detail::as_runtime(driver().cuGraphAddChildGraphNode(node, graph, dependencies, dependency_count, child));
}
cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                        size_t dependency_count, cudaEvent_t event) {
  return detail::as_runtime(driver().cuGraphAddEventRecordNode(node, graph, dependencies, dependency_count, event));
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                      size_t dependency_count, cudaEvent_t event) {
  return detail::as_runtime(driver().cuGraphAddEventWaitNode(node, graph, dependencies, dependency_count, event));
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData* edges, size_t dependency_count) {
  return detail::as_runtime(driver().cuGraphAddDependencies_v2(
      graph, from, to, reinterpret_cast<const CUgraphEdgeData*>(edges), dependency_count));
}
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) { return detail::as_runtime(driver().cuGraphDestroyNode(node)); }
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* node_count) {
  return detail::as_runtime(driver().cuGraphGetNodes(graph, nodes, node_count));
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* node_count) {
  return detail::as_runtime(driver().cuGraphGetRootNodes(graph, nodes, node_count));
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType* type) {
  return detail::as_runtime(driver().cuGraphNodeGetType(node, reinterpret_cast<CUgraphNodeType*>(type)));
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return detail::as_runtime(driver().cuGraphInstantiateWithFlags(executable, graph, flags));
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return impl::cudaGraphInstantiate(executable, graph, flags);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return detail::as_runtime(driver().cuGraphLaunch(executable, stream_of(stream)));
}
cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
  return detail::as_runtime(driver().cuGraphUpload(executable, stream_of(stream)));
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return detail::as_runtime(driver().cuGraphExecDestroy(executable));
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  static_assert(sizeof(cudaGraphExecUpdateResultInfo) == sizeof(CUgraphExecUpdateResultInfo),
                "passed through as it is");
  return detail::as_runtime(
      driver().cuGraphExecUpdate_v2(executable, graph, reinterpret_cast<CUgraphExecUpdateResultInfo*>(info)));
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams* parameters) {
  if (!parameters) return cudaErrorInvalidValue;
  CUDA_KERNEL_NODE_PARAMS d;
  CUDA_TRY(to_kernel_node(*parameters, &d));
  return detail::as_runtime(driver().cuGraphExecKernelNodeSetParams_v2(executable, node, &d));
}

}  // namespace impl
}  // namespace heddle::runtime

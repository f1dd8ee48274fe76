// Instantiation, updates and launches of graphs. Tested by tests/api/driver/graph_test.cc.
#include "driver/graph_exec.h"

#include <algorithm>

#include "driver/copy.h"
#include "driver/launch.h"
#include "driver/memset.h"

namespace heddle::driver {

Result<std::vector<Ref<GraphNode>>> order_of(Graph& graph) {
  std::vector<Ref<GraphNode>> order;
  MutexLock lock(graph.mutex);
  std::map<GraphNode*, std::size_t> waiting;
  std::vector<GraphNode*> ready;
  for (const Ref<GraphNode>& node : graph.nodes) {
    waiting[node.get()] = node->dependencies.size();
    if (node->dependencies.empty()) ready.push_back(node.get());
  }
  for (std::size_t i = 0; i < ready.size(); ++i) {
    order.emplace_back(ready[i]);
    for (GraphNode* dependent : ready[i]->dependents)
      if (--waiting[dependent] == 0) ready.push_back(dependent);
  }
  if (order.size() != graph.nodes.size()) return Status(ErrorCode::kInvalidValue, "the graph's edges go in a circle");
  return order;
}

Status GraphExec::take(Graph& graph) {
  HEDDLE_ASSIGN(const auto order, order_of(graph));
  auto fresh = std::make_shared<std::vector<Step>>();
  for (const Ref<GraphNode>& node : order) fresh->push_back({node->number, node->operation});
  MutexLock lock(mutex);
  steps = std::move(fresh);
  return {};
}

Status GraphExec::change(std::uint64_t number, Ref<Operation> operation) {
  MutexLock lock(mutex);
  auto fresh = std::make_shared<std::vector<Step>>(*steps);
  for (Step& step : *fresh) {
    if (step.number != number) continue;
    if (step.operation->type() != operation->type())
      return Status(ErrorCode::kInvalidValue, "the node is of another type");
    step.operation = std::move(operation);
    steps = std::move(fresh);
    return {};
  }
  return Status(ErrorCode::kInvalidValue, "not a node of the graph that was instantiated");
}

namespace {

constexpr const char* kStale = "null, stale or foreign executable graph";

CUresult instantiate(CUgraphExec* executable, CUgraph handle, unsigned long long flags) {
  DRIVER_CHECK(executable, "no place for the executable's handle");
  const Ref<Graph> graph = find_object<Graph>(handle);
  DRIVER_CHECK(graph, "null, stale or foreign graph");
  auto made = make_ref<GraphExec>(flags);
  DRIVER_TRY(made->take(*graph));
  *executable = publish<CUgraphExec>(made);
  return CUDA_SUCCESS;
}

// Sets the parameters of one node of an executable graph.
CUresult change_node(CUgraphExec handle, CUgraphNode node_handle, Ref<Operation> operation) {
  const Ref<GraphExec> executable = find_object<GraphExec>(handle);
  const Ref<GraphNode> node = find_object<GraphNode>(node_handle);
  DRIVER_CHECK(executable && node, "null, stale or foreign executable graph or node");
  return result_of(executable->change(node->number, std::move(operation)));
}

CUresult update(CUgraphExec handle, CUgraph graph_handle, CUgraphExecUpdateResult* result) {
  const Ref<GraphExec> executable = find_object<GraphExec>(handle);
  const Ref<Graph> graph = find_object<Graph>(graph_handle);
  DRIVER_CHECK(executable && graph, "null, stale or foreign executable graph or graph");
  DRIVER_ASSIGN(const auto order, order_of(*graph));
  {
    MutexLock lock(executable->mutex);
    const auto& steps = *executable->steps;
    bool same = steps.size() == order.size();
    for (std::size_t i = 0; same && i < steps.size(); ++i)
      same = steps[i].operation->type() == order[i]->operation->type();
    if (!same) {
      if (result) *result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
      return fail(static_cast<ErrorCode>(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE), "the graph has another topology");
    }
  }
  DRIVER_TRY(executable->take(*graph));
  if (result) *result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  return CUDA_SUCCESS;
}

}  // namespace

namespace impl {

CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long flags) {
  return instantiate(executable, graph, flags);
}
CUresult cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, CUgraphNode* error_node, char* log,
                            size_t log_bytes) {
  if (error_node) *error_node = nullptr;
  if (log && log_bytes) *log = 0;
  return instantiate(executable, graph, 0);
}
CUresult cuGraphInstantiate_v2(CUgraphExec* executable, CUgraph graph, CUgraphNode* error_node, char* log,
                               size_t log_bytes) {
  return impl::cuGraphInstantiate(executable, graph, error_node, log, log_bytes);
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* executable, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  DRIVER_CHECK(parameters, "no parameters");
  const CUresult result = instantiate(executable, graph, parameters->flags);
  parameters->hErrNode_out = nullptr;
  parameters->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
  return result;
}
CUresult cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t* flags) {
  const Ref<GraphExec> executable = find_object<GraphExec>(handle);
  DRIVER_CHECK(executable && flags, kStale);
  *flags = executable->flags;
  return CUDA_SUCCESS;
}
CUresult cuGraphExecDestroy(CUgraphExec handle) {
  const Ref<GraphExec> executable = find_object<GraphExec>(handle);
  DRIVER_CHECK(executable && registry::remove(executable.get()), kStale);
  return CUDA_SUCCESS;
}
CUresult cuGraphUpload(CUgraphExec handle, CUstream stream) {
  DRIVER_CHECK(find_object<GraphExec>(handle), kStale);
  if (stream && !find_object<Stream>(stream) && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD)
    return fail(ErrorCode::kInvalidHandle, "stale or foreign stream");
  return CUDA_SUCCESS;
}
CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  const Ref<GraphExec> executable = find_object<GraphExec>(handle);
  DRIVER_CHECK(executable, kStale);
  if (!Context::current()) return fail(ErrorCode::kInvalidContext, "no context is current on this thread");
  const Ref<Stream> stream = find_stream(stream_handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, "stale or foreign stream");
  std::shared_ptr<const std::vector<GraphExec::Step>> steps;
  {
    MutexLock lock(executable->mutex);
    steps = executable->steps;
  }
  return enqueue(*stream,
                 make_ref<FunctionOperation>(CU_GRAPH_NODE_TYPE_GRAPH,
                                             [steps](Context& context) {
                                               for (const GraphExec::Step& step : *steps) {
                                                 if (context.state() != ErrorCode::kSuccess) return;
                                                 if (step.enabled) step.operation->run(context);
                                               }
                                             }),
                 Effort::kLong);
}

CUresult cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphNode* error_node,
                           CUgraphExecUpdateResult* result) {
  if (error_node) *error_node = nullptr;
  return update(executable, graph, result);
}
CUresult cuGraphExecUpdate_v2(CUgraphExec executable, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  DRIVER_CHECK(info, "no place for the result");
  *info = {};
  return update(executable, graph, &info->result);
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* p) {
  DRIVER_CHECK(p, "no parameters");
  if (!Context::current()) return fail(ErrorCode::kInvalidContext, "no context is current on this thread");
  DRIVER_ASSIGN(const Ref<Function> function, find_function(p->func ? static_cast<const void*>(p->func) : p->kern));
  const LaunchShape shape = {
      {p->gridDimX, p->gridDimY, p->gridDimZ}, {p->blockDimX, p->blockDimY, p->blockDimZ}, p->sharedMemBytes, false};
  DRIVER_ASSIGN(const Ref<KernelOperation> operation,
                make_kernel_operation(function, shape, p->kernelParams, p->extra));
  return change_node(executable, node, Ref<Operation>(operation.get()));
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  DRIVER_CHECK(p, "no parameters");
  CUDA_KERNEL_NODE_PARAMS wide = {};
  wide.func = p->func;
  wide.gridDimX = p->gridDimX;
  wide.gridDimY = p->gridDimY;
  wide.gridDimZ = p->gridDimZ;
  wide.blockDimX = p->blockDimX;
  wide.blockDimY = p->blockDimY;
  wide.blockDimZ = p->blockDimZ;
  wide.sharedMemBytes = p->sharedMemBytes;
  wide.kernelParams = p->kernelParams;
  wide.extra = p->extra;
  return impl::cuGraphExecKernelNodeSetParams_v2(executable, node, &wide);
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node, const CUDA_MEMCPY3D* copy,
                                        CUcontext) {
  DRIVER_CHECK(copy, "no description of the copy");
  DRIVER_ASSIGN(CopyPlan plan, plan_copy(*copy));
  return change_node(executable, node, make_ref<CopyOperation>(std::move(plan), copy));
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* fill,
                                        CUcontext) {
  DRIVER_CHECK(fill, "no description of the fill");
  DRIVER_TRY(check_fill(*fill));
  return change_node(executable, node, make_ref<MemsetOperation>(*fill));
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS* parameters) {
  DRIVER_CHECK(parameters && parameters->fn, "no function");
  return change_node(executable, node, make_ref<HostOperation>(parameters->fn, parameters->userData));
}
CUresult cuGraphNodeSetEnabled(CUgraphExec handle, CUgraphNode node_handle, unsigned int enabled) {
  const Ref<GraphExec> executable = find_object<GraphExec>(handle);
  const Ref<GraphNode> node = find_object<GraphNode>(node_handle);
  DRIVER_CHECK(executable && node, "null, stale or foreign executable graph or node");
  MutexLock lock(executable->mutex);
  auto fresh = std::make_shared<std::vector<GraphExec::Step>>(*executable->steps);
  for (GraphExec::Step& step : *fresh)
    if (step.number == node->number) step.enabled = enabled != 0;
  executable->steps = std::move(fresh);
  return CUDA_SUCCESS;
}
CUresult cuGraphNodeGetEnabled(CUgraphExec handle, CUgraphNode node_handle, unsigned int* enabled) {
  const Ref<GraphExec> executable = find_object<GraphExec>(handle);
  const Ref<GraphNode> node = find_object<GraphNode>(node_handle);
  DRIVER_CHECK(executable && node && enabled, "null, stale or foreign executable graph or node");
  MutexLock lock(executable->mutex);
  for (const GraphExec::Step& step : *executable->steps)
    if (step.number == node->number) {
      *enabled = step.enabled;
      return CUDA_SUCCESS;
    }
  return fail(ErrorCode::kInvalidValue, "not a node of the graph that was instantiated");
}

}  // namespace impl
}  // namespace heddle::driver

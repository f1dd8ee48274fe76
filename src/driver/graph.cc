// Graphs and executable graphs. An executable runs its nodes one after the other in a valid order, as one work of its
// stream. Tested by tests/api/driver/graph_test.cc.
#include "driver/graph.h"

#include <algorithm>

#include "driver/copy.h"
#include "driver/graph_exec.h"
#include "driver/launch.h"
#include "driver/memset.h"
#include "driver/stream.h"
#include "exec/print.h"

namespace heddle::driver {

void HostOperation::run(Context&) {
  exec::flush_device_output();
  function_(data_);
}

Graph::~Graph() {
  std::vector<std::function<void()>> last;
  {
    MutexLock lock(mutex);
    for (const Ref<GraphNode>& node : nodes) {
      node->graph = nullptr;
      registry::remove(node.get());
    }
    last.swap(on_destroy);
  }
  for (const auto& call : last) call();
}

GraphNode* Graph::add(Ref<Operation> operation, const std::vector<GraphNode*>& after) {
  auto node = make_ref<GraphNode>(this, std::move(operation));
  registry::add(node.get());
  MutexLock lock(mutex);
  node->number = next_number++;
  for (GraphNode* dependency : after) {
    node->dependencies.push_back(dependency);
    dependency->dependents.push_back(node.get());
  }
  nodes.push_back(node);
  return node.get();
}

namespace {

constexpr const char* kStaleGraph = "null, stale or foreign graph";
constexpr const char* kStaleNode = "null, stale or foreign node";

/// Does nothing; orders others.
Ref<Operation> empty_operation() {
  return make_ref<FunctionOperation>(CU_GRAPH_NODE_TYPE_EMPTY, [](Context&) {});
}

/// Another graph, run as one node.
class ChildOperation final : public Operation {
 public:
  explicit ChildOperation(Ref<Graph> graph) : graph_(std::move(graph)) {}
  void run(Context& context) override {
    const auto order = order_of(*graph_);
    if (!order) return;
    for (const Ref<GraphNode>& node : *order) node->operation->run(context);
  }
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_GRAPH; }
  const Ref<Graph>& graph() const { return graph_; }

 private:
  Ref<Graph> graph_;
};

CUresult add_node(CUgraphNode* handle, CUgraph graph_handle, const CUgraphNode* dependencies, size_t count,
                  Ref<Operation> operation) {
  DRIVER_CHECK(handle, "no place for the node's handle");
  const Ref<Graph> graph = find_object<Graph>(graph_handle);
  DRIVER_CHECK(graph, kStaleGraph);
  DRIVER_CHECK(dependencies || count == 0, "dependencies are announced and not given");
  std::vector<GraphNode*> after;
  for (size_t i = 0; i < count; ++i) {
    const Ref<GraphNode> node = find_object<GraphNode>(dependencies[i]);
    DRIVER_CHECK(node && node->graph == graph.get(), "a dependency that is no node of the graph");
    DRIVER_CHECK(std::find(after.begin(), after.end(), node.get()) == after.end(), "a dependency is given twice");
    after.push_back(node.get());
  }
  *handle = handle_of<CUgraphNode>(graph->add(std::move(operation), after));
  return CUDA_SUCCESS;
}

Result<Ref<KernelOperation>> kernel_operation(const CUDA_KERNEL_NODE_PARAMS& p) {
  if (!Context::current()) return Status(ErrorCode::kInvalidContext, "no context is current on this thread");
  const void* handle = p.func ? static_cast<const void*>(p.func) : static_cast<const void*>(p.kern);
  HEDDLE_ASSIGN(const Ref<Function> function, find_function(handle));
  LaunchShape shape = {
      {p.gridDimX, p.gridDimY, p.gridDimZ}, {p.blockDimX, p.blockDimY, p.blockDimZ}, p.sharedMemBytes, false};
  return make_kernel_operation(function, shape, p.kernelParams, p.extra);
}

CUDA_KERNEL_NODE_PARAMS widen(const CUDA_KERNEL_NODE_PARAMS_v1& v1) {
  CUDA_KERNEL_NODE_PARAMS p = {};
  p.func = v1.func;
  p.gridDimX = v1.gridDimX;
  p.gridDimY = v1.gridDimY;
  p.gridDimZ = v1.gridDimZ;
  p.blockDimX = v1.blockDimX;
  p.blockDimY = v1.blockDimY;
  p.blockDimZ = v1.blockDimZ;
  p.sharedMemBytes = v1.sharedMemBytes;
  p.kernelParams = v1.kernelParams;
  p.extra = v1.extra;
  return p;
}

Result<Ref<Operation>> copy_operation(const CUDA_MEMCPY3D& copy) {
  HEDDLE_ASSIGN(CopyPlan plan, plan_copy(copy));
  return Ref<Operation>(make_ref<CopyOperation>(std::move(plan), &copy).get());
}

Result<Ref<Operation>> fill_operation(const CUDA_MEMSET_NODE_PARAMS& fill) {
  HEDDLE_TRY(check_fill(fill));
  return Ref<Operation>(make_ref<MemsetOperation>(fill).get());
}

Ref<Operation> record_operation(const Ref<EventObject>& event) {
  return make_ref<EventOperation>(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}
Ref<Operation> wait_operation(const Ref<EventObject>& event) {
  return make_ref<EventOperation>(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}

// A node's operation of one class, or null.
template <class T>
T* operation_of(CUgraphNode handle, Ref<GraphNode>* keep) {
  *keep = find_object<GraphNode>(handle);
  return *keep ? dynamic_cast<T*>((*keep)->operation.get()) : nullptr;
}

CUresult replace(CUgraphNode handle, Ref<Operation> operation) {
  const Ref<GraphNode> node = find_object<GraphNode>(handle);
  DRIVER_CHECK(node, kStaleNode);
  DRIVER_CHECK(node->operation->type() == operation->type(), "the node is of another type");
  node->operation = std::move(operation);
  return CUDA_SUCCESS;
}

// Lists of nodes are asked for twice: for their number, then with room for it.
CUresult list_nodes(const std::vector<GraphNode*>& all, CUgraphNode* nodes, size_t* count) {
  DRIVER_CHECK(count, "no place for the number");
  if (!nodes) {
    *count = all.size();
    return CUDA_SUCCESS;
  }
  for (size_t i = 0; i < *count; ++i) nodes[i] = i < all.size() ? handle_of<CUgraphNode>(all[i]) : nullptr;
  *count = std::min(*count, all.size());
  return CUDA_SUCCESS;
}

CUresult edges_of(CUgraph handle, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  DRIVER_CHECK(count, "no place for the number");
  const Ref<Graph> graph = find_object<Graph>(handle);
  DRIVER_CHECK(graph, kStaleGraph);
  MutexLock lock(graph->mutex);
  size_t at = 0;
  for (const Ref<GraphNode>& node : graph->nodes)
    for (GraphNode* dependency : node->dependencies) {
      if (from && to && at < *count) {
        from[at] = handle_of<CUgraphNode>(dependency);
        to[at] = handle_of<CUgraphNode>(node.get());
      }
      ++at;
    }
  *count = from && to ? std::min(*count, at) : at;
  return CUDA_SUCCESS;
}

CUresult change_edges(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to, size_t count, bool add) {
  const Ref<Graph> graph = find_object<Graph>(handle);
  DRIVER_CHECK(graph && ((from && to) || count == 0), "null, stale or foreign graph, or no edges");
  for (size_t i = 0; i < count; ++i) {
    const Ref<GraphNode> first = find_object<GraphNode>(from[i]), second = find_object<GraphNode>(to[i]);
    DRIVER_CHECK(first && second && first->graph == graph.get() && second->graph == graph.get() && first != second,
                 "an edge between what are no two nodes of the graph");
    MutexLock lock(graph->mutex);
    auto& dependencies = second->dependencies;
    const auto found = std::find(dependencies.begin(), dependencies.end(), first.get());
    DRIVER_CHECK((found == dependencies.end()) == add, add ? "the edge is there already" : "there is no such edge");
    if (add) {
      dependencies.push_back(first.get());
      first->dependents.push_back(second.get());
    } else {
      dependencies.erase(found);
      std::erase(first->dependents, second.get());
    }
  }
  return CUDA_SUCCESS;
}

}  // namespace

void EventOperation::run(Context& context) {
  if (type_ == CU_GRAPH_NODE_TYPE_WAIT_EVENT) {
    event_->event().wait();
  } else {
    event_->event().record_now();
  }
  (void)context;
}

namespace impl {

CUresult cuGraphCreate(CUgraph* graph, unsigned int flags) {
  DRIVER_CHECK(graph && flags == 0, "no place for the graph's handle, or flags that are not 0");
  *graph = publish<CUgraph>(make_ref<Graph>());
  return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph handle) {
  const Ref<Graph> graph = find_object<Graph>(handle);
  DRIVER_CHECK(graph && registry::remove(graph.get()), kStaleGraph);
  return CUDA_SUCCESS;
}
CUresult cuGraphClone(CUgraph* clone, CUgraph handle) {
  DRIVER_CHECK(clone, "no place for the clone's handle");
  const Ref<Graph> graph = find_object<Graph>(handle);
  DRIVER_CHECK(graph, kStaleGraph);
  auto copy = make_ref<Graph>();
  MutexLock lock(graph->mutex);
  std::map<GraphNode*, GraphNode*> twin;
  for (const Ref<GraphNode>& node : graph->nodes) {
    twin[node.get()] = copy->add(node->operation, {});
    twin[node.get()]->number = node->number;
  }
  for (const Ref<GraphNode>& node : graph->nodes)
    for (GraphNode* dependency : node->dependencies) {
      twin[node.get()]->dependencies.push_back(twin[dependency]);
      twin[dependency]->dependents.push_back(twin[node.get()]);
    }
  *clone = publish<CUgraph>(copy);
  return CUDA_SUCCESS;
}
CUresult cuGraphNodeFindInClone(CUgraphNode* node, CUgraphNode original, CUgraph clone) {
  DRIVER_CHECK(node, "no place for the node's handle");
  const Ref<GraphNode> from = find_object<GraphNode>(original);
  const Ref<Graph> graph = find_object<Graph>(clone);
  DRIVER_CHECK(from && graph, "null, stale or foreign node or graph");
  MutexLock lock(graph->mutex);
  for (const Ref<GraphNode>& candidate : graph->nodes)
    if (candidate->number == from->number) {
      *node = handle_of<CUgraphNode>(candidate.get());
      return CUDA_SUCCESS;
    }
  return fail(ErrorCode::kInvalidValue, "the clone has no such node");
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                             size_t dependency_count) {
  return add_node(node, graph, dependencies, dependency_count, empty_operation());
}
CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                 size_t dependency_count, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  DRIVER_CHECK(parameters, "no parameters");
  DRIVER_ASSIGN(const Ref<KernelOperation> operation, kernel_operation(*parameters));
  return add_node(node, graph, dependencies, dependency_count, Ref<Operation>(operation.get()));
}
CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              size_t dependency_count, const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  DRIVER_CHECK(parameters, "no parameters");
  const CUDA_KERNEL_NODE_PARAMS wide = widen(*parameters);
  return impl::cuGraphAddKernelNode_v2(node, graph, dependencies, dependency_count, &wide);
}
CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              size_t dependency_count, const CUDA_MEMCPY3D* copy, CUcontext) {
  DRIVER_CHECK(copy, "no description of the copy");
  DRIVER_ASSIGN(Ref<Operation> operation, copy_operation(*copy));
  return add_node(node, graph, dependencies, dependency_count, std::move(operation));
}
CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              size_t dependency_count, const CUDA_MEMSET_NODE_PARAMS* fill, CUcontext) {
  DRIVER_CHECK(fill, "no description of the fill");
  DRIVER_ASSIGN(Ref<Operation> operation, fill_operation(*fill));
  return add_node(node, graph, dependencies, dependency_count, std::move(operation));
}
CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t dependency_count,
                            const CUDA_HOST_NODE_PARAMS* parameters) {
  DRIVER_CHECK(parameters && parameters->fn, "no function");
  return add_node(node, graph, dependencies, dependency_count,
                  make_ref<HostOperation>(parameters->fn, parameters->userData));
}
CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                  size_t dependency_count, CUgraph child) {
  CUgraph clone = nullptr;
  if (const CUresult failed = impl::cuGraphClone(&clone, child); failed != CUDA_SUCCESS) return failed;
  return add_node(node, graph, dependencies, dependency_count, make_ref<ChildOperation>(find_object<Graph>(clone)));
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* graph) {
  DRIVER_CHECK(graph, "no place for the graph's handle");
  Ref<GraphNode> keep;
  const auto* const operation = operation_of<ChildOperation>(node, &keep);
  DRIVER_CHECK(operation, "not a child graph node");
  *graph = handle_of<CUgraph>(operation->graph().get());
  return CUDA_SUCCESS;
}
CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                   size_t dependency_count, CUevent handle) {
  const Ref<EventObject> event = find_object<EventObject>(handle);
  if (!event) return fail(ErrorCode::kInvalidHandle, "null, stale or foreign event");
  return add_node(node, graph, dependencies, dependency_count, record_operation(event));
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                 size_t dependency_count, CUevent handle) {
  const Ref<EventObject> event = find_object<EventObject>(handle);
  if (!event) return fail(ErrorCode::kInvalidHandle, "null, stale or foreign event");
  return add_node(node, graph, dependencies, dependency_count, wait_operation(event));
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* p) {
  DRIVER_CHECK(p, "no place for the parameters");
  Ref<GraphNode> keep;
  const auto* const operation = operation_of<KernelOperation>(node, &keep);
  DRIVER_CHECK(operation, "not a kernel node");
  const LaunchShape& shape = operation->shape();
  *p = {};
  p->func = handle_of<CUfunction>(operation->function().get());
  p->gridDimX = shape.grid[0];
  p->gridDimY = shape.grid[1];
  p->gridDimZ = shape.grid[2];
  p->blockDimX = shape.block[0];
  p->blockDimY = shape.block[1];
  p->blockDimZ = shape.block[2];
  p->sharedMemBytes = shape.shared_bytes;
  p->kernelParams = operation->argument_pointers();
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* p) {
  DRIVER_CHECK(p, "no place for the parameters");
  CUDA_KERNEL_NODE_PARAMS wide;
  if (const CUresult failed = impl::cuGraphKernelNodeGetParams_v2(node, &wide); failed != CUDA_SUCCESS) return failed;
  *p = {wide.func,      wide.gridDimX,  wide.gridDimY,       wide.gridDimZ,     wide.blockDimX,
        wide.blockDimY, wide.blockDimZ, wide.sharedMemBytes, wide.kernelParams, nullptr};
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  DRIVER_CHECK(parameters, "no parameters");
  DRIVER_ASSIGN(const Ref<KernelOperation> operation, kernel_operation(*parameters));
  return replace(node, Ref<Operation>(operation.get()));
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  DRIVER_CHECK(parameters, "no parameters");
  const CUDA_KERNEL_NODE_PARAMS wide = widen(*parameters);
  return impl::cuGraphKernelNodeSetParams_v2(node, &wide);
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* parameters) {
  DRIVER_CHECK(parameters, "no place for the parameters");
  Ref<GraphNode> keep;
  const auto* const operation = operation_of<CopyOperation>(node, &keep);
  DRIVER_CHECK(operation, "not a copy node");
  *parameters = operation->parameters();
  return CUDA_SUCCESS;
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* parameters) {
  DRIVER_CHECK(parameters, "no parameters");
  DRIVER_ASSIGN(Ref<Operation> operation, copy_operation(*parameters));
  return replace(node, std::move(operation));
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* parameters) {
  DRIVER_CHECK(parameters, "no place for the parameters");
  Ref<GraphNode> keep;
  const auto* const operation = operation_of<MemsetOperation>(node, &keep);
  DRIVER_CHECK(operation, "not a fill node");
  *parameters = operation->parameters();
  return CUDA_SUCCESS;
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* parameters) {
  DRIVER_CHECK(parameters, "no parameters");
  DRIVER_ASSIGN(Ref<Operation> operation, fill_operation(*parameters));
  return replace(node, std::move(operation));
}
CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* parameters) {
  DRIVER_CHECK(parameters, "no place for the parameters");
  Ref<GraphNode> keep;
  const auto* const operation = operation_of<HostOperation>(node, &keep);
  DRIVER_CHECK(operation, "not a host node");
  *parameters = operation->parameters();
  return CUDA_SUCCESS;
}
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* parameters) {
  DRIVER_CHECK(parameters && parameters->fn, "no function");
  return replace(node, make_ref<HostOperation>(parameters->fn, parameters->userData));
}

CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType* type) {
  DRIVER_CHECK(type, "no place for the type");
  const Ref<GraphNode> node = find_object<GraphNode>(handle);
  DRIVER_CHECK(node, kStaleNode);
  *type = node->operation->type();
  return CUDA_SUCCESS;
}
CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode* nodes, size_t* node_count) {
  const Ref<Graph> graph = find_object<Graph>(handle);
  DRIVER_CHECK(graph, kStaleGraph);
  std::vector<GraphNode*> all;
  MutexLock lock(graph->mutex);
  for (const Ref<GraphNode>& node : graph->nodes) all.push_back(node.get());
  return list_nodes(all, nodes, node_count);
}
CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode* nodes, size_t* node_count) {
  const Ref<Graph> graph = find_object<Graph>(handle);
  DRIVER_CHECK(graph, kStaleGraph);
  std::vector<GraphNode*> all;
  MutexLock lock(graph->mutex);
  for (const Ref<GraphNode>& node : graph->nodes)
    if (node->dependencies.empty()) all.push_back(node.get());
  return list_nodes(all, nodes, node_count);
}
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* edge_count) {
  return edges_of(graph, from, to, edge_count);
}
CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edges,
                            size_t* edge_count) {
  const CUresult result = edges_of(graph, from, to, edge_count);
  if (result == CUDA_SUCCESS && edges && from) std::fill(edges, edges + *edge_count, CUgraphEdgeData{});
  return result;
}
CUresult cuGraphNodeGetDependencies(CUgraphNode handle, CUgraphNode* dependencies, size_t* dependency_count) {
  const Ref<GraphNode> node = find_object<GraphNode>(handle);
  DRIVER_CHECK(node, kStaleNode);
  return list_nodes(node->dependencies, dependencies, dependency_count);
}
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* dependencies, CUgraphEdgeData* edges,
                                       size_t* dependency_count) {
  const CUresult result = impl::cuGraphNodeGetDependencies(node, dependencies, dependency_count);
  if (result == CUDA_SUCCESS && edges && dependencies) std::fill(edges, edges + *dependency_count, CUgraphEdgeData{});
  return result;
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode handle, CUgraphNode* dependents, size_t* dependent_count) {
  const Ref<GraphNode> node = find_object<GraphNode>(handle);
  DRIVER_CHECK(node, kStaleNode);
  return list_nodes(node->dependents, dependents, dependent_count);
}
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* dependents, CUgraphEdgeData* edges,
                                         size_t* dependent_count) {
  const CUresult result = impl::cuGraphNodeGetDependentNodes(node, dependents, dependent_count);
  if (result == CUDA_SUCCESS && edges && dependents) std::fill(edges, edges + *dependent_count, CUgraphEdgeData{});
  return result;
}
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                size_t dependency_count) {
  return change_edges(graph, from, to, dependency_count, true);
}
CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData*, size_t dependency_count) {
  return change_edges(graph, from, to, dependency_count, true);
}
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   size_t dependency_count) {
  return change_edges(graph, from, to, dependency_count, false);
}
CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData*, size_t dependency_count) {
  return change_edges(graph, from, to, dependency_count, false);
}
CUresult cuGraphDestroyNode(CUgraphNode handle) {
  const Ref<GraphNode> node = find_object<GraphNode>(handle);
  DRIVER_CHECK(node && node->graph, kStaleNode);
  DRIVER_CHECK(registry::remove(node.get()), kStaleNode);
  const Ref<Graph> graph(node->graph);
  MutexLock lock(graph->mutex);
  for (GraphNode* dependency : node->dependencies) std::erase(dependency->dependents, node.get());
  for (GraphNode* dependent : node->dependents) std::erase(dependent->dependencies, node.get());
  std::erase(graph->nodes, node);
  return CUDA_SUCCESS;
}

}  // namespace impl
}  // namespace heddle::driver

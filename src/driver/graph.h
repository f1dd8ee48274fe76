// Operations (what streams run and graphs keep), graphs, and captures. Tested by tests/api/driver/graph_test.cc.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "base/ref.h"
#include "driver/object.h"
#include "driver/state.h"

namespace heddle::driver {

class Context;
class Stream;

/// Something that a stream does. Immutable once it is queued or in an executable graph.
class Operation : public RefCounted {
 public:
  /// Runs to the end on the calling thread; kernels use the workers. Failures poison the context.
  virtual void run(Context& context) = 0;
  virtual CUgraphNodeType type() const = 0;
  /// Runs even when the context is poisoned (host functions that must learn of it).
  virtual bool runs_after_failure() const { return false; }
};

class FunctionOperation final : public Operation {
 public:
  FunctionOperation(CUgraphNodeType type, std::function<void(Context&)> body) : type_(type), body_(std::move(body)) {}
  void run(Context& context) override { body_(context); }
  CUgraphNodeType type() const override { return type_; }

 private:
  CUgraphNodeType type_;
  std::function<void(Context&)> body_;
};

/// A host function, with the parameters that a graph node can be asked for.
class HostOperation final : public Operation {
 public:
  HostOperation(CUhostFn function, void* data) : function_(function), data_(data) {}
  void run(Context& context) override;
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_HOST; }
  CUDA_HOST_NODE_PARAMS parameters() const { return {function_, data_}; }

 private:
  CUhostFn function_;
  void* data_;
};

class Graph;

class GraphNode final : public Object {
 public:
  static constexpr Tag kTag = Tag::kGraphNode;
  GraphNode(Graph* graph, Ref<Operation> what)
      : Object(Tag::kGraphNode, nullptr), graph(graph), operation(std::move(what)) {}
  Graph* graph;  ///< null once its graph is gone
  Ref<Operation> operation;
  std::vector<GraphNode*> dependencies;
  std::vector<GraphNode*> dependents;
  std::uint64_t number = 0;  ///< position in the graph; kept in clones and executables
};

class Graph final : public Object {
 public:
  static constexpr Tag kTag = Tag::kGraph;
  Graph() : Object(Tag::kGraph, nullptr) {}
  ~Graph() override;

  Mutex mutex;
  std::vector<Ref<GraphNode>> nodes GUARDED_BY(mutex);
  std::uint64_t next_number GUARDED_BY(mutex) = 0;
  std::vector<std::function<void()>> on_destroy GUARDED_BY(mutex);  ///< user objects

  GraphNode* add(Ref<Operation> operation, const std::vector<GraphNode*>& after);
};

/// A running capture: streams that take part share it.
class Capture final : public RefCounted {
 public:
  Capture(Stream* origin, CUstreamCaptureMode mode);
  const CUstreamCaptureMode mode;
  const std::uint64_t id;
  Stream* const origin;  ///< only compared, never dereferenced after the capture's end
  Mutex mutex;
  Ref<Graph> graph GUARDED_BY(mutex);
  bool invalidated GUARDED_BY(mutex) = false;
  struct Tip {
    Stream* stream;
    std::vector<GraphNode*> after;
  };
  std::vector<Tip> tips GUARDED_BY(mutex);  ///< what the next node of each stream depends on
  bool owns_graph = true;

  std::vector<GraphNode*> tip_of(Stream& stream);
  void set_tip(Stream& stream, std::vector<GraphNode*> after);
  void join(Stream& stream, const std::vector<GraphNode*>& after);
};

/// Adds the operation to the stream's capture.
CUresult capture_operation(Stream& stream, Ref<Operation> operation);

}  // namespace heddle::driver

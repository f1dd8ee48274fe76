// Executable graphs. Tested by tests/api/driver/graph_test.cc.
#pragma once

#include <map>
#include <vector>

#include "driver/graph.h"
#include "driver/stream.h"

namespace heddle::driver {

/// An event node: records or waits for the event.
class EventOperation final : public Operation {
 public:
  EventOperation(CUgraphNodeType type, Ref<EventObject> event) : type_(type), event_(std::move(event)) {}
  void run(Context& context) override;
  CUgraphNodeType type() const override { return type_; }
  const Ref<EventObject>& event() const { return event_; }

 private:
  CUgraphNodeType type_;
  Ref<EventObject> event_;
};

/// The nodes in an order in which each comes after what it depends on; kInvalidValue if they go in a circle.
Result<std::vector<Ref<GraphNode>>> order_of(Graph& graph);

class GraphExec final : public Object {
 public:
  static constexpr Tag kTag = Tag::kGraphExec;
  explicit GraphExec(unsigned long long flags) : Object(Tag::kGraphExec, nullptr), flags(flags) {}

  struct Step {
    std::uint64_t number;  ///< of the node that it comes from
    Ref<Operation> operation;
    bool enabled = true;
  };
  const unsigned long long flags;
  Mutex mutex;
  std::shared_ptr<std::vector<Step>> steps GUARDED_BY(mutex);  ///< replaced, not changed: a launch keeps its own

  Status take(Graph& graph);
  Status change(std::uint64_t number, Ref<Operation> operation);
};

}  // namespace heddle::driver

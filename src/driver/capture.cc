// Stream capture: the operations that a stream is given become nodes of a graph. Tested by
// tests/api/driver/graph_test.cc.
#include <algorithm>

#include "driver/stream.h"

namespace heddle::driver {
namespace {
std::atomic<std::uint64_t> g_next_capture{1};
}

Capture::Capture(Stream* origin_stream, CUstreamCaptureMode capture_mode)
    : mode(capture_mode), id(g_next_capture.fetch_add(1)), origin(origin_stream) {}

std::vector<GraphNode*> Capture::tip_of(Stream& stream) {
  MutexLock lock(mutex);
  for (const Tip& tip : tips)
    if (tip.stream == &stream) return tip.after;
  return {};
}

void Capture::set_tip(Stream& stream, std::vector<GraphNode*> after) {
  MutexLock lock(mutex);
  for (Tip& tip : tips)
    if (tip.stream == &stream) {
      tip.after = std::move(after);
      return;
    }
  tips.push_back({&stream, std::move(after)});
}

void Capture::join(Stream& stream, const std::vector<GraphNode*>& after) {
  std::vector<GraphNode*> all = tip_of(stream);
  for (GraphNode* node : after)
    if (std::find(all.begin(), all.end(), node) == all.end()) all.push_back(node);
  set_tip(stream, std::move(all));
  if (!stream.is_capturing()) stream.set_capture(Ref<Capture>(this));
}

CUresult capture_operation(Stream& stream, Ref<Operation> operation) {
  const Ref<Capture> capture = stream.capture();
  if (!capture) return fail(ErrorCode::kIllegalState, "the capture has ended");
  Ref<Graph> graph;
  {
    MutexLock lock(capture->mutex);
    if (capture->invalidated) return fail(ErrorCode::kStreamCaptureInvalidated, "the capture has been invalidated");
    graph = capture->graph;
  }
  GraphNode* const node = graph->add(std::move(operation), capture->tip_of(stream));
  capture->set_tip(stream, {node});
  return CUDA_SUCCESS;
}

namespace {

constexpr const char* kStale = "stale or foreign stream";

CUresult begin(CUstream handle, CUstreamCaptureMode mode, Ref<Graph> graph, std::vector<GraphNode*> after) {
  DRIVER_CHECK(mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && mode <= CU_STREAM_CAPTURE_MODE_RELAXED, "unknown capture mode");
  const Ref<Stream> stream = find_stream(handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, kStale);
  if (stream.get() == &stream->context().default_stream())
    return fail(ErrorCode::kStreamCaptureUnsupported, "the legacy default stream can't be captured");
  if (stream->is_capturing()) return fail(ErrorCode::kIllegalState, "the stream is being captured already");
  auto capture = make_ref<Capture>(stream.get(), mode);
  {
    MutexLock lock(capture->mutex);
    capture->owns_graph = !graph;
    capture->graph = graph ? graph : make_ref<Graph>();
  }
  capture->set_tip(*stream, std::move(after));
  stream->set_capture(std::move(capture));
  return CUDA_SUCCESS;
}

CUresult info(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
              const CUgraphNode** dependencies, const CUgraphEdgeData** edges, size_t* dependency_count) {
  DRIVER_CHECK(status, "no place for the status");
  const Ref<Stream> stream = find_stream(handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, kStale);
  const Ref<Capture> capture = stream->capture();
  if (!capture) {
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
  }
  // The list lives until the thread asks again.
  static thread_local std::vector<CUgraphNode> list;
  list.clear();
  for (GraphNode* node : capture->tip_of(*stream)) list.push_back(handle_of<CUgraphNode>(node));
  MutexLock lock(capture->mutex);
  *status = capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (id) *id = capture->id;
  if (graph) *graph = handle_of<CUgraph>(capture->graph.get());
  if (dependencies) *dependencies = list.data();
  if (edges) *edges = nullptr;
  if (dependency_count) *dependency_count = list.size();
  return CUDA_SUCCESS;
}

CUresult update(CUstream handle, CUgraphNode* dependencies, size_t count, unsigned flags) {
  DRIVER_CHECK((dependencies || count == 0) && flags <= 1, "no dependencies, or unknown flags");
  const Ref<Stream> stream = find_stream(handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, kStale);
  const Ref<Capture> capture = stream->capture();
  if (!capture) return fail(ErrorCode::kIllegalState, "the stream is not being captured");
  std::vector<GraphNode*> after;
  if (flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES) after = capture->tip_of(*stream);
  for (size_t i = 0; i < count; ++i) {
    const Ref<GraphNode> node = find_object<GraphNode>(dependencies[i]);
    DRIVER_CHECK(node, "null, stale or foreign node");
    if (std::find(after.begin(), after.end(), node.get()) == after.end()) after.push_back(node.get());
  }
  capture->set_tip(*stream, std::move(after));
  return CUDA_SUCCESS;
}

}  // namespace

namespace impl {

CUresult cuStreamBeginCapture(CUstream stream) { return begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, {}, {}); }
CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) { return begin(stream, mode, {}, {}); }
CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph handle, const CUgraphNode* dependencies,
                                     const CUgraphEdgeData*, size_t dependency_count, CUstreamCaptureMode mode) {
  const Ref<Graph> graph = find_object<Graph>(handle);
  DRIVER_CHECK(graph && (dependencies || dependency_count == 0), "null, stale or foreign graph, or no dependencies");
  std::vector<GraphNode*> after;
  for (size_t i = 0; i < dependency_count; ++i) {
    const Ref<GraphNode> node = find_object<GraphNode>(dependencies[i]);
    DRIVER_CHECK(node && node->graph == graph.get(), "a dependency that is no node of the graph");
    after.push_back(node.get());
  }
  return begin(stream, mode, graph, std::move(after));
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  DRIVER_CHECK(graph, "no place for the graph's handle");
  const Ref<Stream> stream = find_stream(handle);
  if (!stream) return fail(ErrorCode::kInvalidHandle, kStale);
  const Ref<Capture> capture = stream->capture();
  if (!capture) return fail(ErrorCode::kIllegalState, "the stream is not being captured");
  if (capture->origin != stream.get())
    return fail(static_cast<ErrorCode>(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED), "the capture began in another stream");
  const std::vector<GraphNode*> own = capture->tip_of(*stream);
  std::vector<Capture::Tip> tips;
  Ref<Graph> made;
  bool invalidated = false;
  {
    MutexLock lock(capture->mutex);
    tips = capture->tips;
    made = capture->graph;
    invalidated = capture->invalidated;
    capture->invalidated = true;
  }
  // Every stream that took part must have been joined: nothing may come after its last node but nodes of the origin.
  bool joined = true;
  for (const Capture::Tip& tip : tips) {
    const Ref<Stream> member = find_object<Stream>(handle_of<CUstream>(tip.stream));
    if (member && member->capture().get() == capture.get()) member->set_capture({});
    for (GraphNode* node : tip.after)
      joined = joined && (!node->dependents.empty() || std::find(own.begin(), own.end(), node) != own.end());
  }
  stream->set_capture({});
  if (invalidated) {
    *graph = nullptr;
    return fail(ErrorCode::kStreamCaptureInvalidated, "the capture has been invalidated by an earlier call");
  }
  if (!joined) {
    *graph = nullptr;
    return fail(static_cast<ErrorCode>(CUDA_ERROR_STREAM_CAPTURE_UNJOINED),
                "a stream of the capture was not joined again");
  }
  *graph = capture->owns_graph ? publish<CUgraph>(made) : handle_of<CUgraph>(made.get());
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  return info(handle, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return info(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                   const CUgraphNode** dependencies, size_t* dependency_count) {
  return info(stream, status, id, graph, dependencies, nullptr, dependency_count);
}
CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                   const CUgraphNode** dependencies, const CUgraphEdgeData** edges,
                                   size_t* dependency_count) {
  return info(stream, status, id, graph, dependencies, edges, dependency_count);
}
CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* dependencies, size_t dependency_count,
                                           unsigned int flags) {
  return update(stream, dependencies, dependency_count, flags);
}
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode* dependencies, const CUgraphEdgeData*,
                                              size_t dependency_count, unsigned int flags) {
  return update(stream, dependencies, dependency_count, flags);
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  DRIVER_CHECK(mode && *mode <= CU_STREAM_CAPTURE_MODE_RELAXED, "no mode, or an unknown one");
  static thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::swap(current, *mode);
  return CUDA_SUCCESS;
}

}  // namespace impl
}  // namespace heddle::driver

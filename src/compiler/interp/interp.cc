#include "compiler/interp/interp.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"
#include "compiler/interp/machine.h"

namespace heddle::interp {
namespace {

constexpr std::uint32_t kCallStackBytes = 16384;

std::uint32_t round_up(std::uint32_t value, std::uint32_t to) { return (value + to - 1) / to * to; }

bool allocates_local_memory(const ir::Function& function) {
  for (const ir::Block& block : function.blocks)
    for (const ir::Inst& inst : block.insts)
      if (inst.op == ir::Op::kLocalAlloc) return true;
  return false;
}

std::uint32_t local_bytes_of(const ir::Program& program) {
  bool dynamic = allocates_local_memory(program.kernel);
  for (const ir::Function& function : program.functions) dynamic = dynamic || allocates_local_memory(function);
  return round_up(program.local_bytes, 16) + (dynamic ? kCallStackBytes : 0);
}

struct WarpKey {
  const exec::CtaContext* cta;
  std::uint32_t warp;
  friend bool operator==(const WarpKey&, const WarpKey&) = default;
};
struct WarpKeyHash {
  std::size_t operator()(const WarpKey& key) const { return std::hash<const void*>()(key.cta) * 31 + key.warp; }
};

class InterpretedKernel final : public compiler::CompiledKernel {
 public:
  explicit InterpretedKernel(std::shared_ptr<const ir::Program> program)
      : program_(std::move(program)), layout_(compute_layout(*program_)) {
    warp = &run_warp;
    engine = this;
    frame_bytes = 0;
    shared_align = std::max(16u, program_->shared_align);
    static_shared_bytes = program_->shared_bytes;
    for (const ir::Symbol& symbol : program_->symbols) {
      const bool variable = symbol.kind == ir::Symbol::Kind::kVariable &&
                            (symbol.space == ir::Space::kGlobal || symbol.space == ir::Space::kConst);
      globals.push_back(variable ? symbol.name : std::string());
      if (symbol.external && symbol.space == ir::Space::kShared) {
        static_shared_bytes = dynamic_shared_offset(*program_);
        shared_align = std::max(shared_align, symbol.align);
      }
    }
    local_bytes = local_bytes_of(*program_);
    files = program_->files;
    explanation = "interpreted";
  }

 private:
  static std::uint32_t run_warp(const exec::LaunchContext* launch, exec::CtaContext* cta, std::uint32_t index) {
    auto* const kernel = static_cast<InterpretedKernel*>(launch->engine);
    exec::WarpState& state = static_cast<exec::WarpState*>(cta->warps)[index];
    Warp* const warp = kernel->find_or_create(launch, cta, index, state.pc == 0);
    state.pc = 1;
    const std::uint32_t status = warp->run(launch, cta);  // may not come back: [ends] calls leave through exec
    if (status == exec::kWarpDone) kernel->erase(cta, index);
    return status;
  }

  Warp* find_or_create(const exec::LaunchContext* launch, exec::CtaContext* cta, std::uint32_t index, bool fresh) {
    const MutexLock lock(mutex_);
    std::unique_ptr<Warp>& warp = warps_[{cta, index}];
    if (fresh || !warp) warp = std::make_unique<Warp>(*program_, layout_, launch, cta, index);
    return warp.get();
  }
  void erase(exec::CtaContext* cta, std::uint32_t index) {
    const MutexLock lock(mutex_);
    warps_.erase({cta, index});
  }

  const std::shared_ptr<const ir::Program> program_;
  const Layout layout_;
  Mutex mutex_;
  std::unordered_map<WarpKey, std::unique_ptr<Warp>, WarpKeyHash> warps_ GUARDED_BY(mutex_);
};

}  // namespace

std::uint32_t dynamic_shared_offset(const ir::Program& program) {
  std::uint32_t align = 16;
  for (const ir::Symbol& symbol : program.symbols)
    if (symbol.external && symbol.space == ir::Space::kShared) align = std::max(align, symbol.align);
  return round_up(program.shared_bytes, align);
}

std::shared_ptr<const compiler::CompiledKernel> make_interpreted(std::shared_ptr<const ir::Program> program) {
  return std::make_shared<InterpretedKernel>(std::move(program));
}

Result<FaultReport> find_fault(const ir::Program& program, const exec::LaunchContext& launch_in, std::uint64_t linear,
                               AccessCheck check, void* user, std::chrono::nanoseconds limit) {
  exec::LaunchContext launch = launch_in;
  launch.local_bytes = std::max(launch.local_bytes, local_bytes_of(program));
  Forensic forensic;
  forensic.check = check;
  forensic.user = user;
  forensic.deadline = std::chrono::steady_clock::now() + limit;
  constexpr std::size_t kAlign = 1024;
  std::vector<std::uint8_t> shared(launch.total_shared + kAlign),
      local(std::size_t{launch.local_bytes} * launch.warps * 32 + 16);
  std::vector<exec::WarpState> states(launch.warps);
  const auto aligned = [](std::vector<std::uint8_t>& memory, std::size_t to) {
    return reinterpret_cast<void*>((reinterpret_cast<std::uint64_t>(memory.data()) + to - 1) / to * to);
  };
  exec::CtaContext cta{};
  cta.x = static_cast<std::uint32_t>(linear % launch.grid_x);
  cta.y = static_cast<std::uint32_t>(linear / launch.grid_x % launch.grid_y);
  cta.z = static_cast<std::uint32_t>(linear / launch.grid_x / launch.grid_y);
  cta.linear = linear;
  cta.shared = aligned(shared, kAlign);
  cta.local = aligned(local, 16);
  cta.warps = states.data();

  const Layout layout = compute_layout(program);
  std::vector<std::unique_ptr<Warp>> warps;
  for (std::uint32_t w = 0; w < launch.warps; ++w)
    warps.push_back(std::make_unique<Warp>(program, layout, &launch, &cta, w, &forensic));
  std::vector<std::uint32_t> status(launch.warps, exec::kWarpYield);
  // Barriers without their counts: all that wait go on when nobody else can run. Good enough to reach the access.
  for (;;) {
    bool ran = false;
    for (std::uint32_t w = 0; w < launch.warps; ++w) {
      if (status[w] != exec::kWarpYield) continue;
      ran = true;
      status[w] = warps[w]->run(&launch, &cta);
      if (forensic.found) return forensic.report;
      if (forensic.exhausted)
        return Status(ErrorCode::kNotFound, "no illegal access within the limits of time and memory");
    }
    if (ran) continue;
    std::uint32_t trues = 0, lanes = 0;
    bool waiting = false;
    for (std::uint32_t w = 0; w < launch.warps; ++w) {
      if (status[w] != exec::kWarpBarrier) continue;
      waiting = true;
      trues += states[w].reduce_value;
      lanes += static_cast<std::uint32_t>(__builtin_popcount(states[w].arrived));
    }
    if (!waiting) return Status(ErrorCode::kNotFound, "the block ended without an illegal access");
    for (std::uint32_t w = 0; w < launch.warps; ++w) {
      if (status[w] != exec::kWarpBarrier) continue;
      if (states[w].reduce_op == 1) states[w].reduce_value = trues;
      if (states[w].reduce_op == 2) states[w].reduce_value = trues == lanes;
      if (states[w].reduce_op == 3) states[w].reduce_value = trues != 0;
      status[w] = exec::kWarpYield;
    }
  }
}

}  // namespace heddle::interp

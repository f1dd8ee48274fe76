#include "support/mini_device.h"

#include <bit>
#include <chrono>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "exec/kernel_abi.h"

namespace heddle::test {
namespace {

/// What the services of the run in progress reach; one run per thread.
struct Run {
  std::jmp_buf end;
  LaunchResult result;
  std::uint32_t arrived[16] = {};
};
thread_local Run* t_run = nullptr;

[[noreturn]] void end_run(ErrorCode code, std::string what, std::uint32_t thread, std::uint32_t line,
                          std::uint64_t address = 0) {
  LaunchResult& result = t_run->result;
  result.code = code;
  result.what = std::move(what);
  result.thread = thread;
  result.ptx_line = line;
  result.address = address;
  std::longjmp(t_run->end, 1);
}

/// One printf: arguments lie one after the other at their natural alignment.
std::int32_t print(const exec::LaunchContext*, exec::CtaContext*, std::uint32_t, const char* format,
                   const void* arguments) {
  const auto* at = static_cast<const std::uint8_t*>(arguments);
  std::string& out = t_run->result.printed;
  std::int32_t count = 0;
  const auto take = [&](auto& value) {
    const std::size_t size = sizeof value;
    at = reinterpret_cast<const std::uint8_t*>((reinterpret_cast<std::uintptr_t>(at) + size - 1) / size * size);
    std::memcpy(&value, at, size);
    at += size;
    ++count;
  };
  while (*format) {
    if (*format != '%') {
      out += *format++;
      continue;
    }
    std::string spec(1, *format++);
    bool wide = false;
    while (*format && std::strchr("-+ #0123456789.hlzjt", *format)) {
      wide = wide || *format == 'l' || *format == 'z' || *format == 'j' || *format == 't';
      if (!std::strchr("hlzjt", *format)) spec += *format;
      ++format;
    }
    const char conversion = *format ? *format++ : '%';
    char text[512] = "%";
    if (conversion == '%') {
    } else if (std::strchr("aAeEfFgG", conversion)) {
      double value;
      take(value);
      std::snprintf(text, sizeof text, (spec + conversion).c_str(), value);
    } else if (conversion == 's') {
      const char* value;
      take(value);
      std::snprintf(text, sizeof text, (spec + "s").c_str(), value);
    } else if (conversion == 'p' || wide) {
      std::uint64_t value;
      take(value);
      std::snprintf(text, sizeof text, conversion == 'p' ? "0x%llx" : (spec + "ll" + conversion).c_str(),
                    static_cast<unsigned long long>(value));
    } else {
      std::uint32_t value;
      take(value);
      std::snprintf(text, sizeof text, (spec + conversion).c_str(), value);
    }
    out += text;
  }
  return count;
}

const exec::RuntimeTable& services() {
  using exec::CtaContext;
  using exec::LaunchContext;
  static const exec::RuntimeTable table = [] {
    exec::RuntimeTable t{};
    t.vprintf = &print;
    t.assert_fail = [](const LaunchContext*, CtaContext*, std::uint32_t thread, const char* message, const char*,
                       std::uint32_t line, const char*) { end_run(ErrorCode::kAssert, message, thread, line); };
    t.fault = [](const LaunchContext*, CtaContext*, std::uint32_t thread, std::int32_t code, std::uint64_t address,
                 std::uint32_t line) { end_run(static_cast<ErrorCode>(code), "fault", thread, line, address); };
    t.trap = [](const LaunchContext*, CtaContext*, std::uint32_t thread, std::uint32_t kind, std::uint32_t line) {
      end_run(kind == 2 ? ErrorCode::kNotSupported : ErrorCode::kLaunchFailed, kind == 2 ? "unsupported" : "trap",
              thread, line);
    };
    t.malloc = [](const LaunchContext*, CtaContext*, std::uint64_t bytes) { return std::malloc(bytes); };
    t.free = [](const LaunchContext*, CtaContext*, void* pointer) { std::free(pointer); };
    t.nanosleep = [](const LaunchContext*, CtaContext*, std::uint32_t) {};
    t.clock = [] { return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()); };
    t.globaltimer = t.clock;
    t.barrier_arrive = [](const LaunchContext*, CtaContext*, std::uint32_t id, std::uint32_t, std::uint32_t) {
      t_run->arrived[id & 15] += 32;
    };
    t.texture = [](const LaunchContext*, std::uint64_t, std::uint64_t, const std::uint32_t*, std::uint32_t*) {
      end_run(ErrorCode::kNotSupported, "texture", 0, 0);
    };
    return t;
  }();
  return table;
}

struct Aligned {
  explicit Aligned(std::size_t bytes)
      : bytes_((bytes + 64 + 1023) / 1024 * 1024), data(static_cast<std::byte*>(std::aligned_alloc(1024, bytes_))) {
    std::memset(data, 0, bytes_);
  }
  ~Aligned() { std::free(data); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  std::size_t bytes_;
  std::byte* data;
};

/// A CTA in flight.
struct Cta {
  Cta(const exec::LaunchContext& launch, std::uint64_t linear)
      : shared(launch.total_shared),
        local(std::size_t{launch.local_bytes} * launch.warps * 32),
        frames(std::size_t{launch.frame_bytes} * launch.warps),
        warps(launch.warps) {
    context.x = static_cast<std::uint32_t>(linear % launch.grid_x);
    context.y = static_cast<std::uint32_t>(linear / launch.grid_x % launch.grid_y);
    context.z = static_cast<std::uint32_t>(linear / launch.grid_x / launch.grid_y);
    context.linear = linear;
    context.shared = shared.data;
    context.local = local.data;
    context.frames = frames.data;
    context.warps = warps.data();
  }
  Aligned shared, local, frames;
  std::vector<exec::WarpState> warps;
  exec::CtaContext context{};
};

enum class Progress { kDone, kMoved, kSpun };

void complete_barriers(const exec::LaunchContext& launch, Cta& cta) {
  bool released = false;
  for (std::uint32_t id = 0; id < 16; ++id) {
    std::uint32_t waiting = 0, needed = 0, trues = 0, lanes = 0, ended = 0;
    for (const exec::WarpState& warp : cta.warps) {
      if (warp.status == exec::kWarpDone) ++ended;
      if (warp.status != exec::kWarpBarrier || warp.barrier_id != id) continue;
      ++waiting;
      needed = warp.barrier_threads ? (warp.barrier_threads + 31) / 32 : launch.warps;
      trues += warp.reduce_value;
      lanes += static_cast<std::uint32_t>(std::popcount(warp.arrived));
    }
    if (!waiting || waiting + ended + t_run->arrived[id] / 32 < needed) continue;
    released = true;
    t_run->arrived[id] = 0;
    for (exec::WarpState& warp : cta.warps) {
      if (warp.status != exec::kWarpBarrier || warp.barrier_id != id) continue;
      if (warp.reduce_op == 1) warp.reduce_value = trues;
      if (warp.reduce_op == 2) warp.reduce_value = trues == lanes;
      if (warp.reduce_op == 3) warp.reduce_value = trues != 0;
      warp.status = exec::kWarpYield;
    }
  }
  if (!released) end_run(ErrorCode::kLaunchFailed, "a barrier that never completes", 0, 0);
}

/// Every warp that may run has one turn.
Progress run_turn(const compiler::CompiledKernel& kernel, const exec::LaunchContext& launch, Cta& cta) {
  bool moved = false, live = false, spun = false;
  for (std::uint32_t w = 0; w < launch.warps; ++w) {
    exec::WarpState& warp = cta.warps[w];
    if (warp.status == exec::kWarpDone) continue;
    live = true;
    if (warp.status == exec::kWarpBarrier) continue;
    cta.context.current_warp = w;
    warp.status = kernel.warp(&launch, &cta.context, w);
    moved = moved || warp.status != exec::kWarpYield;
    spun = spun || warp.status == exec::kWarpYield;
  }
  if (!live) return Progress::kDone;
  if (!spun) {
    bool any = false;
    for (const exec::WarpState& warp : cta.warps) any = any || warp.status != exec::kWarpDone;
    if (!any) return Progress::kDone;
    complete_barriers(launch, cta);
    return Progress::kMoved;
  }
  return moved ? Progress::kMoved : Progress::kSpun;
}

void run_ctas(const compiler::CompiledKernel& kernel, const exec::LaunchContext& launch, const LaunchSpec& spec,
              std::vector<std::unique_ptr<Cta>>& ctas) {
  constexpr int kPatience = 20000;
  const std::uint64_t count = spec.grid.count();
  const std::uint64_t together = spec.cooperative ? count : 1;
  for (std::uint64_t first = 0; first < count; first += together) {
    ctas.clear();
    for (std::uint64_t i = 0; i < together; ++i) {
      ctas.push_back(std::make_unique<Cta>(launch, first + i));
      for (exec::WarpState& warp : ctas.back()->warps) {
        warp = {};
        warp.status = exec::kWarpYield;
      }
    }
    int spins = 0;
    for (bool live = true; live;) {
      live = false;
      bool moved = false;
      for (const std::unique_ptr<Cta>& cta : ctas) {
        const Progress progress = run_turn(kernel, launch, *cta);
        live = live || progress != Progress::kDone;
        moved = moved || progress == Progress::kMoved;
      }
      spins = moved ? 0 : spins + 1;
      if (spins > kPatience) end_run(ErrorCode::kLaunchTimeout, "the block spins without progress", 0, 0);
    }
  }
}

}  // namespace

LaunchResult run_grid(const compiler::CompiledKernel& kernel, const LaunchSpec& spec) {
  Aligned params(spec.params.size() + 64), workspace(64);
  std::memcpy(params.data, spec.params.data(), spec.params.size());
  std::vector<void*> globals = spec.globals;
  exec::LaunchContext launch{};
  launch.params = params.data;
  launch.globals = globals.data();
  launch.runtime = const_cast<exec::RuntimeTable*>(&services());
  launch.engine = kernel.engine;
  launch.grid_x = spec.grid.x;
  launch.grid_y = spec.grid.y;
  launch.grid_z = spec.grid.z;
  launch.block_x = spec.block.x;
  launch.block_y = spec.block.y;
  launch.block_z = spec.block.z;
  launch.threads = static_cast<std::uint32_t>(spec.block.count());
  launch.warps = (launch.threads + 31) / 32;
  launch.dynamic_shared = spec.dynamic_shared;
  launch.total_shared = (kernel.static_shared_bytes + 15) / 16 * 16 + spec.dynamic_shared;
  launch.local_bytes = (kernel.local_bytes + 15) / 16 * 16;
  launch.frame_bytes = (kernel.frame_bytes + 63) / 64 * 64;
  launch.cooperative = spec.cooperative;
  launch.grid_id = 1;
  launch.grid_workspace = workspace.data;

  Run run;
  t_run = &run;
  std::vector<std::unique_ptr<Cta>> ctas;  // outside the jump, so that it is destroyed after one
  if (setjmp(run.end) == 0) {
    if (spec.use_range && kernel.range) {
      ctas.push_back(std::make_unique<Cta>(launch, 0));
      for (exec::WarpState& warp : ctas[0]->warps) warp = {};
      kernel.range(&launch, &ctas[0]->context, 0, spec.grid.count());
    } else {
      run_ctas(kernel, launch, spec, ctas);
    }
  }
  t_run = nullptr;
  return run.result;
}

}  // namespace heddle::test

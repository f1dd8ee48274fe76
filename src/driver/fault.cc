// What the log says of a grid that faulted. The machine tells the address and the program counter, hence the PTX line,
// but a vector of lanes faults as one: which thread it was is found by running the block again on the interpreter
// (compiler::find_fault), until a thread of that warp touches that address. The context is lost by then, so the time
// that takes costs nobody anything; it is bounded all the same, since a stream may have somebody waiting for it.
// Tested by tests/api/driver/launch_test.cc.
#include "driver/fault.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include "base/log.h"
#include "driver/memory.h"

namespace heddle::driver {
namespace {

constexpr std::chrono::seconds kPatience{2};

// The PTX line of a program counter, by the compiled kernel's table; null if it lies elsewhere (in a library's code).
const compiler::SourceLine* find_line(const compiler::CompiledKernel& kernel, std::uintptr_t pc) {
  const auto begin = reinterpret_cast<std::uintptr_t>(kernel.code);
  if (!kernel.code || pc < begin || pc >= begin + kernel.code_bytes) return nullptr;
  const auto after = std::upper_bound(
      kernel.lines.begin(), kernel.lines.end(), pc - begin,
      [](std::uintptr_t offset, const compiler::SourceLine& line) { return offset < line.code_offset; });
  return after == kernel.lines.begin() ? nullptr : &*std::prev(after);
}

// ---- the second run

// Access is checked by pages, as the machine did: a kernel that runs past the end of an allocation faults at the first
// page that is not there, and the accesses before that one are not what is looked for. A page is accessible if any of
// the places in it where an allocation may begin lies in one; allocations that began earlier hold the page's start.
bool is_accessible(std::uintptr_t address) {
  constexpr std::uintptr_t kPage = 4096;
  if (find_allocation(address)) return true;
  const std::uintptr_t page = address & ~(kPage - 1);
  for (std::uintptr_t at = page; at < page + kPage; at += exec::DeviceMemory::kAlignment)
    if (find_allocation(at)) return true;
  return false;
}

bool check_access(void* user, std::uint64_t address, std::uint64_t bytes, bool) {
  const auto& grid = *static_cast<const exec::Grid*>(user);
  const exec::Fault& fault = grid.fault;
  if (fault.has_address && fault.address - address < bytes) return false;
  const auto workspace = reinterpret_cast<std::uint64_t>(grid.launch.grid_workspace);
  if (workspace && address - workspace < sizeof grid.grid_barrier) return true;
  return is_accessible(address) && is_accessible(address + bytes - 1);
}

bool touches(const compiler::FaultReport& report, std::uintptr_t address) {
  return !report.in_cta_memory && address - report.address < report.bytes;
}

// Whether the access that the second run found is part of the one that the machine refused. Another one doesn't name
// the thread: global memory has changed since, so the second run may go other ways than the first did.
bool is_same(const compiler::FaultReport& report, const exec::Fault& fault, std::uint32_t machine_line) {
  if (report.thread / 32 != fault.warp) return false;
  if (fault.code == ErrorCode::kHardwareStackError) return report.code == ErrorCode::kHardwareStackError;
  if (report.code != ErrorCode::kIllegalAddress && report.code != ErrorCode::kMisalignedAddress) return false;
  const bool same_line = machine_line != 0 && report.ptx_line == machine_line;
  // An address that the processor can't form comes without its value.
  if (!fault.has_address) return same_line || machine_line == 0;
  // Of several lanes with bad addresses the machine names any, or the vector's first byte; and the second run has its
  // shared and local memory elsewhere.
  return touches(report, fault.address) || (same_line && report.code == ErrorCode::kIllegalAddress);
}

std::optional<compiler::FaultReport> find_thread(const std::string& kernel, const compiler::Module& module,
                                                 exec::Grid& grid, std::uint32_t machine_line) {
  const exec::Fault& fault = grid.fault;
  // Faults without a program counter were raised by a service, such as free(), which the second run passes over.
  const bool can_be_found = fault.code == ErrorCode::kIllegalAddress || fault.code == ErrorCode::kMisalignedAddress ||
                            fault.code == ErrorCode::kHardwareStackError;
  if (fault.thread != exec::kUnknownThread || fault.pc == 0 || !can_be_found) return std::nullopt;
  std::optional<Result<compiler::FaultReport>> found;
  // Memory may be freed by another thread between the check and the read. The region is left then, without a report;
  // the interpreter's own memory leaks, which is better than ending the process.
  exec::GuardedRegion region;
  const bool ended = exec::run_guarded(region, [&] {
    found = compiler::find_fault(module, kernel, grid.launch, fault.block_linear, &check_access, &grid, kPatience);
  });
  if (!ended) {
    LOG_INFO("kernel %s: which thread it was could not be found: the second run of the block faulted", kernel.c_str());
    return std::nullopt;
  }
  if (!*found) {
    LOG_INFO("kernel %s: which thread it was could not be found: %s", kernel.c_str(), found->error().why());
    return std::nullopt;
  }
  if (!is_same(**found, fault, machine_line)) {
    LOG_INFO(
        "kernel %s: which thread it was could not be found: the second run of the block went another way, to %s "
        "in thread %u, PTX line %u",
        kernel.c_str(), (*found)->instruction.c_str(), (*found)->thread, (*found)->ptx_line);
    return std::nullopt;
  }
  return std::move(*found).value();
}

}  // namespace

void log_fault(const std::string& kernel, const compiler::Module& module, exec::Grid& grid,
               const compiler::CompiledKernel& code) {
  if (!log_enabled(LogLevel::kError)) return;
  const exec::Fault& fault = grid.fault;
  std::uint32_t thread = fault.thread, ptx_line = fault.ptx_line, source_line = 0;
  std::uintptr_t at = fault.address;
  bool has_address = fault.has_address;
  std::string file;
  if (const compiler::SourceLine* const source = fault.pc ? find_line(code, fault.pc) : nullptr) {
    if (!ptx_line) ptx_line = source->ptx_line;
    source_line = source->line;
    if (source_line && source->file < code.files.size()) file = code.files[source->file];
  }
  if (const auto report = find_thread(kernel, module, grid, ptx_line)) {
    thread = report->thread;
    if (report->ptx_line) {
      ptx_line = report->ptx_line;
      source_line = report->line;
      file = report->file;
    }
    // The address of that thread; the machine's own if it lies inside.
    if (!report->in_cta_memory && fault.code != ErrorCode::kHardwareStackError &&
        !(has_address && touches(*report, at))) {
      at = report->address;
      has_address = true;
    }
  }

  char where[64] = "", address[48] = "", line[300] = "";
  const std::uint32_t bx = grid.launch.block_x, by = grid.launch.block_y;
  if (thread != exec::kUnknownThread) {
    std::snprintf(where, sizeof where, "thread (%u,%u,%u)", thread % bx, thread / bx % by, thread / bx / by);
  } else {
    const std::uint32_t first = fault.warp * 32;
    std::snprintf(where, sizeof where, "threads %u to %u (warp %u)", first,
                  std::min(first + 31, grid.launch.threads ? grid.launch.threads - 1 : 0), fault.warp);
  }
  if (has_address) std::snprintf(address, sizeof address, " at %#llx", static_cast<unsigned long long>(at));
  if (ptx_line && !file.empty()) {
    std::snprintf(line, sizeof line, ", PTX line %u, %s:%u", ptx_line, file.c_str(), source_line);
  } else if (ptx_line) {
    std::snprintf(line, sizeof line, ", PTX line %u", ptx_line);
  }
  LOG_ERROR("kernel %s: %s%s in block (%u,%u,%u), %s%s; the context can't be used any more", kernel.c_str(), fault.what,
            address, fault.block[0], fault.block[1], fault.block[2], where, line);
}

}  // namespace heddle::driver

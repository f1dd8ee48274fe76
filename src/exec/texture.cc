#include "exec/texture.h"

#include "exec/fault.h"

namespace heddle::exec {

void sample_texture(const LaunchContext*, std::uint64_t, std::uint64_t, const std::uint32_t*, std::uint32_t*) {
  Fault fault;
  fault.code = ErrorCode::kNotSupported;
  fault.what = "texture or surface instruction: not there yet";
  raise_fault(nullptr, fault);
}

}  // namespace heddle::exec

#include "compiler/ptx/ast.h"

#include <algorithm>

namespace heddle::ptx {

std::string_view text_of(SpecialRegister special) {
  static constexpr std::string_view kTexts[] = {
#define HEDDLE_PTX_SPECIAL(identifier, text) text,
#include "compiler/ptx/special_registers.def"
#undef HEDDLE_PTX_SPECIAL
  };
  return kTexts[static_cast<std::size_t>(special)];
}

std::uint64_t Variable::elements() const {
  std::uint64_t n = vector;
  for (std::uint64_t d : dimensions) n *= d;
  return n;
}
std::uint64_t Variable::bytes() const {
  if (unsized) return 0;
  return elements() * static_cast<std::uint64_t>(std::max(1, bits_of(type) / 8));
}
std::uint32_t Variable::alignment() const {
  if (align != 0) return align;
  return static_cast<std::uint32_t>(std::max(1, bits_of(type) / 8) * vector);
}

const RegisterRange& Function::range_of(std::uint32_t id) const {
  auto after = std::upper_bound(registers.begin(), registers.end(), id,
                                [](std::uint32_t i, const RegisterRange& r) { return i < r.first; });
  return *(after - 1);
}

std::string Function::name_of_register(std::uint32_t id) const {
  const RegisterRange& range = range_of(id);
  std::string name(range.name);
  std::uint32_t index = (id - range.first) / range.vector;
  if (range.ranged) name += std::to_string(index);
  if (range.vector > 1) name += std::string(".") + "xyzw"[(id - range.first) % range.vector];
  return name;
}

}  // namespace heddle::ptx

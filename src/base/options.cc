#include "base/options.h"

#include <cstdlib>

namespace heddle {
namespace {

std::string read(const char* variable, const char* fallback) {
  const char* value = std::getenv(variable);
  return value ? value : fallback;
}

}  // namespace

const Options& options() {
  // Leaked on purpose: exit handlers of user code may still call us after static destructors have run.
  static const Options* const kOptions = new Options{
#define HEDDLE_OPTION(identifier, variable, fallback, text) read(variable, fallback),
#include "base/options.def"
#undef HEDDLE_OPTION
  };
  return *kOptions;
}

unsigned long long parse_bytes(const std::string& text, unsigned long long fallback) {
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  if (end == text.c_str()) return fallback;
  switch (*end) {
    case '\0': return value;
    case 'k':
    case 'K': return value << 10;
    case 'm':
    case 'M': return value << 20;
    case 'g':
    case 'G': return value << 30;
    default: return fallback;
  }
}

}  // namespace heddle

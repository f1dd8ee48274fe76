#include "api/trace.h"

#include <cctype>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "api/describe.h"
#include "base/log.h"

namespace heddle::api {
namespace {

// Takes the next parameter off "(int a, float* b)" (its opening parenthesis is gone already) and returns its name.
std::string_view take_parameter_name(std::string_view& rest) {
  const std::size_t end = rest.find_first_of(",)");
  std::string_view parameter = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  while (!parameter.empty() && parameter.back() == ' ') parameter.remove_suffix(1);
  std::size_t begin = parameter.size();
  while (begin > 0 && (std::isalnum(static_cast<unsigned char>(parameter[begin - 1])) || parameter[begin - 1] == '_'))
    --begin;
  return parameter.substr(begin);
}

// Some parameters of type const char* are addresses (the host stubs of kernels), so the name decides.
bool is_string(std::string_view name) {
  for (const char* known : {"name", "device_name", "path", "symbol", "bus_id"})
    if (name == known) return true;
  return false;
}

std::uint64_t read_integer(const Argument& argument) {
  std::uint64_t value = 0;
  std::memcpy(&value, argument.value, argument.size);  // little-endian, as every machine that we run on
  if (argument.kind == Argument::kSigned && argument.size < sizeof value) {
    const int unused_bits = 64 - 8 * argument.size;
    value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused_bits) >> unused_bits);
  }
  return value;
}

void print_value(std::string& out, std::string_view name, const Argument& argument) {
  char text[64];
  switch (argument.kind) {
    case Argument::kSigned:
      std::snprintf(text, sizeof text, "%" PRId64, static_cast<std::int64_t>(read_integer(argument)));
      break;
    case Argument::kUnsigned: std::snprintf(text, sizeof text, "%" PRIu64, read_integer(argument)); break;
    case Argument::kFloat:
      std::snprintf(text, sizeof text, "%g",
                    argument.size == sizeof(float) ? static_cast<double>(*static_cast<const float*>(argument.value))
                                                   : *static_cast<const double*>(argument.value));
      break;
    case Argument::kStructure:
      if (argument.size == sizeof(dim3) && (name == "grid" || name == "block")) {
        const auto* size = static_cast<const dim3*>(argument.value);
        std::snprintf(text, sizeof text, "(%u, %u, %u)", size->x, size->y, size->z);
        break;
      }
      std::snprintf(text, sizeof text, "{...}");
      break;
    case Argument::kText:
    case Argument::kPointer: {
      const char* pointer = *static_cast<const char* const*>(argument.value);
      if (pointer != nullptr && argument.kind == Argument::kText && is_string(name)) {
        std::snprintf(text, sizeof text, "\"%.50s\"", pointer);
      } else if (pointer == nullptr) {
        std::snprintf(text, sizeof text, "null");
      } else {
        std::snprintf(text, sizeof text, "%p", static_cast<const void*>(pointer));
      }
      break;
    }
  }
  out += text;
}

void ignore(const Entry&, std::span<const Argument>) {}

void log_call(const Entry& entry, std::span<const Argument> arguments, int result) {
  if (!log_enabled(LogLevel::kDebug)) return;
  const bool runtime = std::strstr(entry.name, "cuda") != nullptr;
  const char* name =
      runtime ? runtime_error_name(static_cast<cudaError_t>(result)) : driver_error_name(static_cast<CUresult>(result));
  log(LogLevel::kDebug, "%s = %s", print_call(entry, arguments).c_str(), name != nullptr ? name : "?");
}

constexpr TraceHook kLogHook{ignore, log_call};

}  // namespace

std::string print_call(const Entry& entry, std::span<const Argument> arguments) {
  std::string out = entry.name;
  std::string_view rest = entry.parameters;
  rest.remove_prefix(1);
  out += '(';
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view name = take_parameter_name(rest);
    if (i > 0) out += ", ";
    out += name;
    out += '=';
    print_value(out, name, arguments[i]);
  }
  out += ')';
  return out;
}

void log_calls() { trace_hook.store(&kLogHook, std::memory_order_release); }

}  // namespace heddle::api

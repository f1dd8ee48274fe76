#include "base/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <string>

#include "base/options.h"

namespace heddle {
namespace {

LogLevel parse_level(const std::string& text) {
  if (text == "off" || text == "0") return LogLevel::kOff;
  if (text == "error") return LogLevel::kError;
  if (text == "info") return LogLevel::kInfo;
  if (text == "debug") return LogLevel::kDebug;
  if (!text.empty() && text != "warning") {
    std::fprintf(stderr,
                 "heddle: warning: HEDDLE_LOG=%s is none of off, error, warning, info, debug; warning is used\n",
                 text.c_str());
  }
  return LogLevel::kWarning;
}

int open_target() {
  const std::string& file = options().log_file;
  if (file.empty()) return STDERR_FILENO;
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  return fd >= 0 ? fd : STDERR_FILENO;
}

}  // namespace

bool log_enabled(LogLevel level) {
  static const LogLevel kLevel = parse_level(options().log);
  return level <= kLevel;
}

void log(LogLevel level, const char* format, ...) {
  static const int kTarget = open_target();
  static constexpr const char* kNames[] = {"", "error", "warning", "info", "debug"};
  char line[4096];
  int used = std::snprintf(line, sizeof line, "heddle: %s: ", kNames[static_cast<int>(level)]);
  std::va_list arguments;
  va_start(arguments, format);
  const int more = std::vsnprintf(line + used, sizeof line - static_cast<size_t>(used) - 1, format, arguments);
  va_end(arguments);
  used = std::min<int>(used + std::max(more, 0), static_cast<int>(sizeof line) - 2);
  line[used++] = '\n';
  // One write per line keeps lines of several threads apart. Nothing sensible can be done if it fails.
  [[maybe_unused]] const ssize_t written = ::write(kTarget, line, static_cast<size_t>(used));
}

}  // namespace heddle

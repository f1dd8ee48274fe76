// The log: one line per event, "heddle: level: text", to stderr or HEDDLE_LOG_FILE. Off costs one comparison.
#pragma once

namespace heddle {

enum class LogLevel { kOff, kError, kWarning, kInfo, kDebug };

bool log_enabled(LogLevel level);
/// printf-style; adds the prefix and the newline. Safe with many threads: a line is one write.
[[gnu::format(printf, 2, 3)]] void log(LogLevel level, const char* format, ...);

}  // namespace heddle

#define HEDDLE_LOG_AT(level, ...)                                        \
  do {                                                                   \
    if (::heddle::log_enabled(level)) ::heddle::log(level, __VA_ARGS__); \
  } while (0)
#define LOG_ERROR(...) HEDDLE_LOG_AT(::heddle::LogLevel::kError, __VA_ARGS__)
#define LOG_WARNING(...) HEDDLE_LOG_AT(::heddle::LogLevel::kWarning, __VA_ARGS__)
#define LOG_INFO(...) HEDDLE_LOG_AT(::heddle::LogLevel::kInfo, __VA_ARGS__)
#define LOG_DEBUG(...) HEDDLE_LOG_AT(::heddle::LogLevel::kDebug, __VA_ARGS__)

// The process's environment, read once: the only place that calls getenv. The table is options.def.
#pragma once

#include <string>

namespace heddle {

struct Options {
#define HEDDLE_OPTION(identifier, variable, fallback, text) std::string identifier;
#include "base/options.def"
#undef HEDDLE_OPTION
};

/// The options as the environment had them at the first call.
const Options& options();
/// Parses "512", "64K", "2M", "1G"; `fallback` for anything else.
unsigned long long parse_bytes(const std::string& text, unsigned long long fallback);

}  // namespace heddle

#include "exec/print.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/mutex.h"

namespace heddle::exec {
namespace {

constexpr std::size_t kFlushAt = 1u << 20;  // NVIDIA's default buffer; when it is full we write instead of overwriting

struct Output {
  Mutex mutex;
  std::string text GUARDED_BY(mutex);
  std::atomic<bool> any{false};
};
Output& output() {
  static Output* const kOutput = new Output;
  return *kOutput;
}

// Reads packed arguments in order.
class Arguments {
 public:
  explicit Arguments(const void* at) : at_(static_cast<const char*>(at)) {}
  template <class T>
  T next() {
    offset_ = (offset_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value;
    std::memcpy(&value, at_ + offset_, sizeof(T));
    offset_ += sizeof(T);
    return value;
  }

 private:
  const char* at_;
  std::size_t offset_ = 0;
};

struct Spec {
  char flags[8] = {};
  int width = -1;
  int precision = -1;
  bool wide = false;  // 64-bit argument
  char size = 0;      // 'h', 'H' for hh, 0
  char conversion = 0;
};

const char* parse_spec(const char* p, Arguments& arguments, Spec* spec, int* used) {
  std::size_t flags = 0;
  for (; *p && std::strchr("-+ #0", *p); ++p)
    if (flags < 6) spec->flags[flags++] = *p;
  const auto number = [&](int* value) {
    if (*p == '*') {
      *value = arguments.next<std::int32_t>();
      ++*used;
      ++p;
      return;
    }
    *value = 0;
    for (; *p >= '0' && *p <= '9'; ++p) *value = std::min(*value * 10 + (*p - '0'), 4096);
  };
  if (*p == '*' || (*p >= '1' && *p <= '9')) number(&spec->width);
  if (*p == '.') {
    ++p;
    number(&spec->precision);
  }
  for (; *p && std::strchr("hlLqjzt", *p); ++p) {
    if (*p == 'h') {
      spec->size = spec->size == 'h' ? 'H' : 'h';
    } else {
      spec->wide = true;  // long is 64 bits on the platforms that CUDA supports here
    }
  }
  spec->conversion = *p;
  return *p ? p + 1 : p;
}

// "%" + flags + width + precision + length + conversion, for snprintf.
void build(const Spec& spec, const char* length, char conversion, char (&out)[48]) {
  char width[16] = "", precision[16] = "";
  if (spec.width != -1) std::snprintf(width, sizeof width, "%d", std::clamp(spec.width, -4096, 4096));
  if (spec.precision >= 0) std::snprintf(precision, sizeof precision, ".%d", std::min(spec.precision, 4096));
  std::snprintf(out, sizeof out, "%%%s%s%s%s%c", spec.flags, width, precision, length, conversion);
}

}  // namespace

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
int format_device_text(const char* format, const void* arguments, char* out, std::size_t capacity,
                       std::size_t* written) {
  *written = 0;
  if (!format) return -2;
  Arguments values(arguments);
  int used = 0;
  std::size_t at = 0;
  const auto put = [&](int n) {
    if (n > 0) at = std::min(at + static_cast<std::size_t>(n), capacity - 1);
  };
  for (const char* p = format; *p && at + 1 < capacity;) {
    if (*p != '%') {
      out[at++] = *p++;
      continue;
    }
    if (p[1] == '%') {
      out[at++] = '%';
      p += 2;
      continue;
    }
    Spec spec;
    const char* const start = p;
    p = parse_spec(p + 1, values, &spec, &used);
    char text[48];
    const std::size_t room = capacity - at;
    switch (spec.conversion) {
      case 'd':
      case 'i': {
        build(spec, "ll", 'd', text);
        long long value = spec.wide ? values.next<std::int64_t>() : values.next<std::int32_t>();
        if (spec.size == 'h') value = static_cast<std::int16_t>(value);
        if (spec.size == 'H') value = static_cast<std::int8_t>(value);
        put(std::snprintf(out + at, room, text, value));
        ++used;
        break;
      }
      case 'u':
      case 'x':
      case 'X':
      case 'o': {
        build(spec, "ll", spec.conversion, text);
        unsigned long long value = spec.wide ? values.next<std::uint64_t>() : values.next<std::uint32_t>();
        if (spec.size == 'h') value = static_cast<std::uint16_t>(value);
        if (spec.size == 'H') value = static_cast<std::uint8_t>(value);
        put(std::snprintf(out + at, room, text, value));
        ++used;
        break;
      }
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        build(spec, "", spec.conversion, text);
        put(std::snprintf(out + at, room, text, values.next<double>()));
        ++used;
        break;
      case 'c':
        build(spec, "", 'c', text);
        put(std::snprintf(out + at, room, text, values.next<std::int32_t>()));
        ++used;
        break;
      case 's': {
        build(spec, "", 's', text);
        const char* value = values.next<const char*>();
        put(std::snprintf(out + at, room, text, value ? value : "(null)"));
        ++used;
        break;
      }
      case 'p':
        build(spec, "", 'p', text);
        put(std::snprintf(out + at, room, text, values.next<const void*>()));
        ++used;
        break;
      default:
        // Not a conversion of CUDA's printf (%n among them): the text is printed as it is.
        for (const char* c = start; c < p && at + 1 < capacity; ++c) out[at++] = *c;
        break;
    }
  }
  *written = at;
  return used;
}
#pragma GCC diagnostic pop

void append_device_output(const char* text, std::size_t length) {
  Output& out = output();
  bool full = false;
  {
    MutexLock lock(out.mutex);
    out.text.append(text, length);
    full = out.text.size() >= kFlushAt;
    out.any.store(true, std::memory_order_release);
  }
  if (full) flush_device_output();
}

void flush_device_output() {
  Output& out = output();
  if (!out.any.load(std::memory_order_acquire)) return;
  std::string text;
  {
    MutexLock lock(out.mutex);
    text.swap(out.text);
    out.any.store(false, std::memory_order_relaxed);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace heddle::exec

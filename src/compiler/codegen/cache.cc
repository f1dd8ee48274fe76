#include "compiler/codegen/cache.h"

#include <cpuid.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/log.h"
#include "base/options.h"

namespace heddle::codegen {
namespace {

constexpr std::uint64_t kMagic = 0x31454843414c4448ull;  // "HDLACHE1": raise the digit when the layout changes
constexpr char kSuffix[] = ".hkc";

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t checksum(std::span<const std::uint8_t> bytes) {
  KeyBuilder builder;
  builder.add(bytes);
  return builder.finish().low;
}

std::string file_name(const CacheKey& key) {
  char text[40];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(key.high),
                static_cast<unsigned long long>(key.low));
  return text + std::string(kSuffix);
}

/// Writes and reads the same fields in the same order: `field` is called for each of them.
class Writer {
 public:
  void number(std::uint64_t value) { raw(&value, sizeof value); }
  void text(std::string_view value) {
    number(value.size());
    raw(value.data(), value.size());
  }
  void raw(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    bytes_.insert(bytes_.end(), bytes, bytes + size);
  }
  std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  std::vector<std::uint8_t> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    if (const std::uint8_t* data = take(sizeof value)) std::memcpy(&value, data, sizeof value);
    return value;
  }
  std::string text() {
    const std::uint64_t size = number();
    const std::uint8_t* data = take(size);
    return data ? std::string(reinterpret_cast<const char*>(data), size) : std::string();
  }
  const std::uint8_t* take(std::uint64_t size) {
    if (size > bytes_.size()) {
      ok_ = false;
      bytes_ = {};
      return nullptr;
    }
    const std::uint8_t* data = bytes_.data();
    bytes_ = bytes_.subspan(size);
    return data;
  }
  /// A count of things of at least `each` bytes, so that a damaged count can't ask for much memory.
  std::uint64_t count(std::uint64_t each) {
    const std::uint64_t value = number();
    if (value > bytes_.size() / each) {
      ok_ = false;
      return 0;
    }
    return value;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return bytes_.empty(); }

 private:
  std::span<const std::uint8_t> bytes_;
  bool ok_ = true;
};

std::string cache_folder() {
  const Options& settings = options();
  if (settings.cache_disable == "1") return "";
  if (!settings.cache_path.empty()) return settings.cache_path;
  if (!settings.xdg_cache_home.empty()) return settings.xdg_cache_home + "/heddle";
  if (!settings.home.empty()) return settings.home + "/.cache/heddle";
  return "";
}

std::optional<std::vector<std::uint8_t>> read_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat info;
  std::vector<std::uint8_t> bytes;
  bool ok = fstat(file, &info) == 0 && S_ISREG(info.st_mode);
  if (ok) {
    bytes.resize(static_cast<std::size_t>(info.st_size));
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t got = read(file, bytes.data() + done, bytes.size() - done);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    ok = done == bytes.size();
  }
  close(file);
  if (!ok) return std::nullopt;
  return bytes;
}

bool write_file(const std::string& path, std::span<const std::uint8_t> bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return false;
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = write(file, bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) break;
    done += static_cast<std::size_t>(put);
  }
  const bool closed = close(file) == 0;
  if (done == bytes.size() && closed) return true;
  unlink(path.c_str());
  return false;
}

/// Removes the files that were used longest ago until the folder is within its bound.
void trim_folder(const std::string& folder, std::uint64_t max_bytes) {
  namespace fs = std::filesystem;
  struct Entry {
    fs::path path;
    std::uint64_t bytes;
    fs::file_time_type when;
  };
  std::vector<Entry> entries;
  std::uint64_t total = 0;
  std::error_code error;
  for (const fs::directory_entry& item : fs::directory_iterator(folder, error)) {
    if (item.path().extension() != kSuffix) continue;
    std::error_code size_error, time_error;
    const std::uint64_t bytes = item.file_size(size_error);
    const fs::file_time_type when = item.last_write_time(time_error);
    if (size_error || time_error) continue;
    entries.push_back({item.path(), bytes, when});
    total += bytes;
  }
  if (total <= max_bytes) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.when < b.when; });
  for (const Entry& entry : entries) {
    if (total <= max_bytes) break;
    if (fs::remove(entry.path, error)) total -= entry.bytes;
  }
}

}  // namespace

void KeyBuilder::add(std::span<const std::uint8_t> bytes) {
  add(static_cast<std::uint64_t>(bytes.size()));
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    add(word);
  }
  if (at < bytes.size()) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, bytes.size() - at);
    add(word);
  }
}

void KeyBuilder::add(std::string_view text) {
  add(std::span<const std::uint8_t>(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

void KeyBuilder::add(std::uint64_t value) {
  low_ = mix(low_ ^ value, 0xa0761d6478bd642full) + 0x2545f4914f6cdd1dull;
  high_ = mix(high_ + value, 0xe7037ed1a0b428dbull) ^ (low_ << 1 | low_ >> 63);
}

void KeyBuilder::add(const compiler::Variant& variant) {
  for (std::uint32_t size : variant.block) add(std::uint64_t{size});
  add(std::uint64_t{variant.width});
}

CacheKey KeyBuilder::finish() const {
  return {mix(low_, 0x8ebc6af09c88c6e3ull), mix(high_ ^ low_, 0x589965cc75374cc3ull)};
}

const std::string& cpu_identity() {
  static const std::string identity = [] {
    std::string text;
    auto leaf = [&](unsigned number, unsigned sub) {
      unsigned registers[4] = {};
      if (!__get_cpuid_count(number, sub, &registers[0], &registers[1], &registers[2], &registers[3])) return;
      if (number == 1) registers[1] &= 0xff;  // the upper bits name the core that we happen to run on
      text.append(reinterpret_cast<const char*>(registers), sizeof registers);
    };
    leaf(0, 0);
    leaf(1, 0);
    leaf(7, 0);
    leaf(7, 1);
    leaf(0x80000001u, 0);
    // Which register files the system saves: AVX-512 may be in the processor and off in the system.
    unsigned low = 0, high = 0, a, b, c = 0, d;
    if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE))
      __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    text.append(reinterpret_cast<const char*>(&low), sizeof low);
    return text;
  }();
  return identity;
}

std::string file_identity(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return "";
  return std::to_string(info.st_size) + ":" + std::to_string(info.st_mtim.tv_sec) + "." +
         std::to_string(info.st_mtim.tv_nsec);
}

namespace internal {

std::vector<std::uint8_t> serialize(const CacheKey& key, const CachedKernel& kernel) {
  Writer body;
  body.number(key.low);
  body.number(key.high);
  body.number(kernel.frame_bytes);
  body.number(kernel.has_range);
  body.number(kernel.static_shared_bytes);
  body.number(kernel.shared_align);
  body.number(kernel.local_bytes);
  for (const std::vector<std::string>* list : {&kernel.globals, &kernel.files}) {
    body.number(list->size());
    for (const std::string& text : *list) body.text(text);
  }
  body.number(kernel.lines.size());
  for (const compiler::SourceLine& line : kernel.lines) body.raw(&line, sizeof line);
  body.text(kernel.explanation);
  body.number(kernel.object.size());
  body.raw(kernel.object.data(), kernel.object.size());
  const std::vector<std::uint8_t> content = body.take();
  Writer file;
  file.number(kMagic);
  file.number(checksum(content));
  file.raw(content.data(), content.size());
  return file.take();
}

std::optional<CachedKernel> deserialize(const CacheKey& key, std::span<const std::uint8_t> bytes) {
  Reader reader(bytes);
  if (reader.number() != kMagic) return std::nullopt;
  const std::uint64_t expected = reader.number();
  if (!reader.ok() || checksum(bytes.subspan(16)) != expected) return std::nullopt;
  if (reader.number() != key.low || reader.number() != key.high) return std::nullopt;
  CachedKernel kernel;
  kernel.frame_bytes = static_cast<std::uint32_t>(reader.number());
  kernel.has_range = reader.number() != 0;
  kernel.static_shared_bytes = static_cast<std::uint32_t>(reader.number());
  kernel.shared_align = static_cast<std::uint32_t>(reader.number());
  kernel.local_bytes = static_cast<std::uint32_t>(reader.number());
  for (std::vector<std::string>* list : {&kernel.globals, &kernel.files}) {
    list->resize(reader.count(8));
    for (std::string& text : *list) text = reader.text();
  }
  kernel.lines.resize(reader.count(sizeof(compiler::SourceLine)));
  for (compiler::SourceLine& line : kernel.lines) {
    if (const std::uint8_t* data = reader.take(sizeof line)) std::memcpy(&line, data, sizeof line);
  }
  kernel.explanation = reader.text();
  const std::uint64_t size = reader.number();
  const std::uint8_t* object = reader.take(size);
  if (!reader.ok() || !reader.at_end() || object == nullptr) return std::nullopt;
  kernel.object.assign(object, object + size);
  return kernel;
}

std::optional<CachedKernel> find_in(const std::string& folder, const CacheKey& key) {
  const std::string path = folder + "/" + file_name(key);
  const std::optional<std::vector<std::uint8_t>> bytes = read_file(path);
  if (!bytes) return std::nullopt;
  std::optional<CachedKernel> kernel = deserialize(key, *bytes);
  if (!kernel) {
    LOG_INFO("cache: %s is damaged or of another version; compiling anew", path.c_str());
    return std::nullopt;
  }
  // The time of last use decides what goes first when the folder is full. Failing to note it does no harm.
  (void)utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return kernel;
}

Status store_in(const std::string& folder, std::uint64_t max_bytes, const CacheKey& key, const CachedKernel& kernel) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Status(ErrorCode::kOperatingSystem, "the cache folder can't be made");
  const std::vector<std::uint8_t> bytes = serialize(key, kernel);
  if (bytes.size() > max_bytes) return Status();
  static std::atomic<unsigned> counter{0};
  const std::string path = folder + "/" + file_name(key);
  const std::string draft = path + "." + std::to_string(getpid()) + "." + std::to_string(counter++);
  if (!write_file(draft, bytes)) return Status(ErrorCode::kOperatingSystem, "a cache file can't be written");
  if (rename(draft.c_str(), path.c_str()) != 0) {
    unlink(draft.c_str());
    return Status(ErrorCode::kOperatingSystem, "a cache file can't be put into its place");
  }
  trim_folder(folder, max_bytes);
  return Status();
}

}  // namespace internal

std::optional<CachedKernel> find_cached_kernel(const CacheKey& key) {
  const std::string folder = cache_folder();
  if (folder.empty()) return std::nullopt;
  return internal::find_in(folder, key);
}

void store_cached_kernel(const CacheKey& key, const CachedKernel& kernel) {
  const std::string folder = cache_folder();
  if (folder.empty()) return;
  const Status status = internal::store_in(folder, parse_bytes(options().cache_maxsize, 1ull << 30), key, kernel);
  static std::atomic<bool> told{false};
  if (!status.ok() && !told.exchange(true)) {
    LOG_WARNING("cache: %s in %s (%s); kernels are compiled anew at each start", status.why(), folder.c_str(),
                std::strerror(errno));
  }
}

}  // namespace heddle::codegen

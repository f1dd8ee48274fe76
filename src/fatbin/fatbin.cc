#include "fatbin/fatbin.h"

#include <elf.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/log.h"
#include "fatbin/compression.h"
#include "fatbin/elf.h"
#include "fatbin/extent.h"
#include "fatbin/layout.h"

namespace heddle::fatbin {
namespace {

constexpr std::uint32_t kElfMagic = 0x464C457F;
constexpr Status kCorrupt(ErrorCode::kInvalidImage, "fatbin: truncated or corrupt");

// A copy of the record at `offset`, or nothing where the bytes end before it does.
template <class Record>
std::optional<Record> read_record(Bytes bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Record)) return std::nullopt;
  Record record;
  std::memcpy(&record, bytes.data() + offset, sizeof record);
  return record;
}

// A text inside an entry's header; empty where it does not lie inside.
std::string_view read_text(Bytes header, std::uint64_t offset, std::uint64_t size) {
  if (offset > header.size() || size > header.size() - offset) return {};
  return {reinterpret_cast<const char*>(header.data()) + offset, static_cast<std::size_t>(size)};
}

// Byte by byte up to the first difference: a text of unknown size may be shorter than a magic number.
bool starts_with(Bytes image, std::uint32_t magic) {
  for (std::size_t i = 0; i < sizeof magic; ++i, magic >>= 8) {
    if (i == image.size() || std::to_integer<std::uint32_t>(image[i]) != (magic & 0xFF)) return false;
  }
  return true;
}

bool is_text(unsigned char c) { return (c >= 0x20 && c != 0x7F) || c == '\n' || c == '\r' || c == '\t'; }

// Text that the PTX compiler can say something sensible about, be it right or wrong: printable from the first byte on.
bool looks_like_text(Bytes image) {
  constexpr std::string_view kArchive = "!<arch>";
  std::size_t n = 0;
  while (n < image.size() && n < 32 && is_text(std::to_integer<unsigned char>(image[n]))) ++n;
  const bool ended = n == image.size() || n == 32 || image[n] == std::byte{0};
  return n > 0 && ended && !read_text(image.first(n), 0, n).starts_with(kArchive);
}

Result<Entry> parse_entry(Bytes bytes, const EntryRecord& record) {
  Entry entry{};
  entry.kind = static_cast<Kind>(record.kind);
  entry.major = record.major;
  entry.minor = record.minor;
  entry.arch = record.arch;
  entry.flags = record.flags;
  entry.payload = bytes.subspan(record.header_size, record.payload_size);
  entry.full_size = record.payload_size;
  if (record.flags & (kFlagLz4 | kFlagZstd)) {
    entry.compression = record.flags & kFlagLz4 ? Compression::kLz4 : Compression::kZstd;
    if (record.compressed_size > record.payload_size || (record.flags & kFlagLz4 && record.flags & kFlagZstd)) {
      return kCorrupt;
    }
    entry.payload = entry.payload.first(record.compressed_size);
    entry.full_size = record.uncompressed_size;
  }
  const Bytes header = bytes.first(record.header_size);
  if (record.file_name_size) entry.file_name = read_text(header, record.file_name_offset, record.file_name_size);
  if (record.options_offset) {
    if (const auto where = read_record<StringRecord>(header, record.options_offset)) {
      entry.options = read_text(header, where->offset, where->size);
    }
  }
  return entry;
}

// `entries` is what follows a container's header.
Result<Unit> parse_entries(Bytes entries) {
  Unit unit;
  while (!entries.empty()) {
    const auto record = read_record<EntryRecord>(entries, 0);
    if (!record || record->header_size < sizeof(EntryRecord) || record->header_size > entries.size() ||
        record->payload_size > entries.size() - record->header_size) {
      return kCorrupt;
    }
    HEDDLE_ASSIGN(const Entry entry, parse_entry(entries, *record));
    unit.push_back(entry);
    // The last payload of a container may lack its padding.
    const std::uint64_t next = record->header_size + align_8(record->payload_size);
    entries = entries.subspan(static_cast<std::size_t>(std::min<std::uint64_t>(next, entries.size())));
  }
  return unit;
}

// Bytes of the container at the start of `bytes`.
Result<std::size_t> measure_container(Bytes bytes) {
  const auto record = read_record<ContainerRecord>(bytes, 0);
  if (!record || record->magic != kContainerMagic || record->header_size < sizeof(ContainerRecord) ||
      record->header_size > bytes.size() || record->entries_size > bytes.size() - record->header_size) {
    return kCorrupt;
  }
  if (record->version != 1) return Status(ErrorCode::kInvalidImage, "fatbin: a container version that we don't know");
  return record->header_size + static_cast<std::size_t>(record->entries_size);
}

Bytes readable_memory(const void* address) {
  // An end beyond the address space would overflow where the system can't tell how much is mapped.
  const std::size_t most = ~reinterpret_cast<std::uintptr_t>(address);
  return {static_cast<const std::byte*>(address), std::min(readable_bytes(address), most)};
}

Result<Unit> parse_unit_at(const void* address) {
  const Bytes memory = readable_memory(address);
  HEDDLE_ASSIGN(const std::size_t size, measure_container(memory));
  HEDDLE_ASSIGN(std::vector<Unit> units, parse_containers(memory.first(size)));
  return std::move(units.front());
}

// "sm_90 machine code, sm_90 LTO-IR": what a unit holds, for messages.
std::string describe(const std::vector<Unit>& units) {
  std::vector<std::string> parts;
  for (const Unit& unit : units) {
    for (const Entry& entry : unit) {
      std::string part = "sm_" + std::to_string(entry.arch);
      if (entry.is_arch_specific()) part += 'a';
      if (entry.is_family_specific()) part += 'f';
      part += entry.kind == Kind::kPtx ? " PTX" : entry.kind == Kind::kElf ? " machine code" : " LTO-IR";
      if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(std::move(part));
    }
  }
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text.empty() ? "nothing" : text;
}

bool holds_ptx(const Unit& unit) {
  return std::any_of(unit.begin(), unit.end(), [](const Entry& entry) { return entry.kind == Kind::kPtx; });
}

Status explain_no_ptx(const std::vector<Unit>& units, unsigned capability) {
  const std::string contents = describe(units);
  if (std::any_of(units.begin(), units.end(), holds_ptx)) {
    LOG_ERROR(
        "the device image has %s, which is newer than this device (compute capability %u.%u): set "
        "HEDDLE_COMPUTE_CAPABILITY, or build with -arch for an older one",
        contents.c_str(), capability / 10, capability % 10);
    return Status(ErrorCode::kNoBinaryForGpu, "the image's PTX is for newer devices only");
  }
  LOG_ERROR(
      "the device image has %s and no PTX, so it runs on that GPU alone: rebuild with PTX, for instance nvcc "
      "-arch=sm_90 or -gencode arch=compute_90,code=compute_90",
      contents.c_str());
  return Status(ErrorCode::kNoBinaryForGpu, "the image has machine code for a GPU and no PTX");
}

Result<std::vector<PtxSource>> select_ptx(const std::vector<Unit>& units, unsigned capability) {
  std::vector<PtxSource> sources;
  for (const Unit& unit : units) {
    if (unit.empty()) continue;
    const Entry* entry = find_ptx(unit, capability);
    if (!entry) {
      if (units.size() > 1)
        LOG_INFO("a unit of the device image has no PTX for this device: %s", describe({unit}).c_str());
      continue;
    }
    HEDDLE_ASSIGN(std::string text, extract(*entry));
    sources.push_back({std::move(text), entry->arch, std::string(entry->file_name)});
  }
  if (sources.empty()) return explain_no_ptx(units, capability);
  return sources;
}

Result<std::vector<PtxSource>> load_plain_text(Bytes text) {
  std::string_view view(reinterpret_cast<const char*>(text.data()), text.size());
  view = view.substr(0, view.find('\0'));
  return std::vector<PtxSource>{{std::string(view), read_ptx_header(view).arch, {}}};
}

Status explain_elf(Bytes bytes) {
  const auto header = read_record<Elf64_Ehdr>(bytes, 0);
  if (!header || header->e_machine != kMachineCuda) {
    LOG_ERROR("the device image is an ELF file, but not one for a GPU");
    return Status(ErrorCode::kInvalidImage, "an ELF file that is not a device image");
  }
  LOG_ERROR("the device image is a cubin: machine code for one GPU, which no CPU runs; load PTX or a fatbin with PTX");
  return Status(ErrorCode::kNoBinaryForGpu, "a cubin has machine code for a GPU and no PTX");
}

Result<std::vector<PtxSource>> load_wrapper(Bytes memory, unsigned capability) {
  const auto wrapper = read_record<WrapperRecord>(memory, 0);
  if (!wrapper) return kCorrupt;
  std::vector<Unit> units;
  if (wrapper->version == 2 && wrapper->units) {
    const Bytes array = readable_memory(wrapper->units);
    for (std::uint64_t offset = 0;; offset += sizeof(void*)) {
      const auto address = read_record<const void*>(array, offset);
      if (!address) return kCorrupt;
      if (!*address) break;
      HEDDLE_ASSIGN(Unit unit, parse_unit_at(*address));
      units.push_back(std::move(unit));
    }
  } else if (wrapper->version != 1 && wrapper->version != 2) {
    return Status(ErrorCode::kInvalidImage, "fatbin: a wrapper version that we don't know");
  }
  // A linked image (the container of a version-2 wrapper) is machine code as a rule; the units' PTX comes first.
  if (std::none_of(units.begin(), units.end(), holds_ptx)) {
    HEDDLE_ASSIGN(Unit unit, parse_unit_at(wrapper->container));
    units.push_back(std::move(unit));
  }
  return select_ptx(units, capability);
}

void skip_space_and_comments(std::string_view& text) {
  while (!text.empty()) {
    if (std::isspace(static_cast<unsigned char>(text.front()))) {
      text.remove_prefix(1);
    } else if (text.starts_with("//")) {
      text.remove_prefix(std::min(text.find('\n'), text.size()));
    } else if (text.starts_with("/*")) {
      const std::size_t end = text.find("*/", 2);
      text.remove_prefix(end == text.npos ? text.size() : end + 2);
    } else {
      return;
    }
  }
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

unsigned take_number(std::string_view& text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc() ? value : 0;
}

}  // namespace

bool Entry::is_arch_specific() const { return flags & kFlagArchSpecific; }
bool Entry::is_family_specific() const { return flags & kFlagFamilySpecific; }

Format detect(Bytes image) {
  if (starts_with(image, kWrapperMagic)) return Format::kWrapper;
  if (starts_with(image, kContainerMagic)) return Format::kContainer;
  if (starts_with(image, kElfMagic)) return Format::kElf;
  return looks_like_text(image) ? Format::kPtx : Format::kUnknown;
}

Format detect(const void* image) {
  const Bytes memory = readable_memory(image);
  return detect(memory);
}

const char* name_of(Format format) {
  switch (format) {
    case Format::kWrapper: return "fatbin wrapper";
    case Format::kContainer: return "fatbin container";
    case Format::kElf: return "ELF file";
    case Format::kPtx: return "PTX text";
    case Format::kUnknown: break;
  }
  return "unknown";
}

Result<std::size_t> measure(const void* image) {
  const Bytes memory = readable_memory(image);
  switch (detect(memory)) {
    case Format::kWrapper: return sizeof(WrapperRecord);
    case Format::kContainer: return measure_container(memory);
    case Format::kElf: return measure_elf(memory);
    case Format::kPtx: {
      const void* end = std::memchr(memory.data(), 0, memory.size());
      if (!end) return Status(ErrorCode::kInvalidImage, "PTX text without a terminating NUL");
      return static_cast<std::size_t>(static_cast<const std::byte*>(end) - memory.data()) + 1;
    }
    case Format::kUnknown: break;
  }
  return Status(ErrorCode::kInvalidImage, "neither a fatbin nor PTX nor ELF");
}

Result<std::vector<Unit>> parse_containers(Bytes bytes) {
  std::vector<Unit> units;
  while (!bytes.empty()) {
    if (bytes.front() == std::byte{0} && !units.empty()) {  // padding between containers
      bytes = bytes.subspan(1);
      continue;
    }
    HEDDLE_ASSIGN(const std::size_t size, measure_container(bytes));
    const std::size_t header = read_record<ContainerRecord>(bytes, 0)->header_size;
    HEDDLE_ASSIGN(Unit unit, parse_entries(bytes.subspan(header, size - header)));
    units.push_back(std::move(unit));
    bytes = bytes.subspan(size);
  }
  if (units.empty()) return kCorrupt;
  return units;
}

Result<std::string> extract(const Entry& entry) {
  HEDDLE_ASSIGN(std::string image, decompress(entry.payload, entry.compression, entry.full_size));
  if (entry.kind == Kind::kPtx) image.resize(image.find_last_not_of('\0') + 1);
  return image;
}

const Entry* find_ptx(const Unit& unit, unsigned capability) {
  const auto rank = [capability](const Entry& entry) {
    const bool specific = entry.is_arch_specific() || entry.is_family_specific();
    // Larger is better. Same architecture: the specific text may use more of it.
    if (entry.arch == capability) return 20000u + specific;
    return (specific ? 0u : 10000u) + entry.arch;
  };
  const Entry* best = nullptr;
  for (const Entry& entry : unit) {
    if (entry.kind != Kind::kPtx || entry.arch > capability) continue;
    if (!best || rank(entry) > rank(*best)) best = &entry;
  }
  return best;
}

Result<std::vector<PtxSource>> load_ptx(const void* image, unsigned capability) {
  if (!image) return Status(ErrorCode::kInvalidValue, "a null image");
  const Bytes memory = readable_memory(image);
  if (detect(memory) == Format::kWrapper) return load_wrapper(memory, capability);
  HEDDLE_ASSIGN(const std::size_t size, measure(image));
  return load_ptx(memory.first(size), capability);
}

Result<std::vector<PtxSource>> load_ptx(Bytes image, unsigned capability) {
  switch (detect(image)) {
    case Format::kContainer: {
      HEDDLE_ASSIGN(const std::vector<Unit> units, parse_containers(image));
      return select_ptx(units, capability);
    }
    case Format::kPtx: return load_plain_text(image);
    case Format::kElf: return explain_elf(image);
    case Format::kWrapper:
      return Status(ErrorCode::kInvalidImage, "a fatbin wrapper holds addresses: not a file format");
    case Format::kUnknown: break;
  }
  return Status(ErrorCode::kInvalidImage, "neither a fatbin nor PTX text");
}

PtxHeader read_ptx_header(std::string_view text) {
  PtxHeader header;
  for (int directive = 0; directive < 2; ++directive) {
    skip_space_and_comments(text);
    if (take(text, ".version")) {
      skip_space_and_comments(text);
      header.major = take_number(text);
      if (take(text, ".")) header.minor = take_number(text);
    } else if (take(text, ".target")) {
      skip_space_and_comments(text);
      if (!take(text, "sm_")) break;
      header.arch = take_number(text);
      if (!text.empty() && (text.front() == 'a' || text.front() == 'f')) header.suffix = text.front();
    } else {
      break;
    }
  }
  return header;
}

}  // namespace heddle::fatbin

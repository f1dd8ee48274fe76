#include "fatbin/pack.h"

#include <cstring>

#include "fatbin/compression.h"
#include "fatbin/layout.h"

namespace heddle::fatbin {
namespace {

template <class Record>
void append(std::string& out, const Record& record) {
  out.append(reinterpret_cast<const char*>(&record), sizeof record);
}

void pad_to_8(std::string& out) { out.resize(align_8(out.size()), '\0'); }

// File name first, then the pair that locates the options, then the options: the order that compilers write.
std::string build_strings(const PackEntry& entry, EntryRecord& record) {
  std::string strings;
  if (!entry.file_name.empty()) {
    record.file_name_offset = sizeof(EntryRecord);
    record.file_name_size = static_cast<std::uint32_t>(entry.file_name.size());
    strings += entry.file_name;
    pad_to_8(strings);
  }
  // NVIDIA's driver follows the options of a PTX entry without asking whether there are any (580: a crash at load), so
  // an empty string is written.
  if (!entry.options.empty() || entry.kind == Kind::kPtx) {
    record.options_offset = static_cast<std::uint32_t>(sizeof(EntryRecord) + strings.size());
    append(strings, StringRecord{record.options_offset + static_cast<std::uint32_t>(sizeof(StringRecord)),
                                 static_cast<std::uint32_t>(entry.options.size())});
    strings += entry.options;
    strings += '\0';
    pad_to_8(strings);
  }
  return strings;
}

Status append_entry(std::string& out, const PackEntry& entry) {
  EntryRecord record{};
  record.kind = static_cast<std::uint16_t>(entry.kind);
  record.version = 0x0101;
  record.arch = entry.arch;
  record.flags = kFlag64Bit | kFlagLinux | (entry.debug ? kFlagDebug : 0);
  char suffix = entry.suffix;
  std::string content(entry.content);
  if (entry.kind == Kind::kPtx) {
    const PtxHeader header = read_ptx_header(entry.content);
    if (header.major == 0) return Status(ErrorCode::kInvalidPtx, "pack: the PTX text has no .version");
    record.major = static_cast<std::uint16_t>(header.major);
    record.minor = static_cast<std::uint16_t>(header.minor);
    if (record.arch == 0) {
      record.arch = header.arch;
      suffix = header.suffix;
    }
    content += '\0';
  } else {
    record.major = 1;
    record.minor = 8;
  }
  if (suffix == 'a') record.flags |= kFlagArchSpecific;
  if (suffix == 'f') record.flags |= kFlagFamilySpecific;

  HEDDLE_ASSIGN(std::string payload, compress(content, entry.compression));
  if (entry.compression != Compression::kStored) {
    record.compressed_size = static_cast<std::uint32_t>(payload.size());
    record.uncompressed_size = content.size();
    record.flags |= entry.compression == Compression::kLz4 ? kFlagLz4 : kFlagZstd;
  }
  pad_to_8(payload);
  const std::string strings = build_strings(entry, record);
  record.header_size = static_cast<std::uint32_t>(sizeof(EntryRecord) + strings.size());
  record.payload_size = payload.size();
  append(out, record);
  out += strings;
  out += payload;
  return {};
}

}  // namespace

Result<std::string> pack(const std::vector<PackEntry>& entries) {
  std::string body;
  for (const PackEntry& entry : entries) HEDDLE_TRY(append_entry(body, entry));
  std::string out;
  append(out, ContainerRecord{kContainerMagic, 1, sizeof(ContainerRecord), body.size()});
  return out + body;
}

Result<std::string> pack_ptx(std::string_view text, Compression compression) {
  return pack({{.content = text, .compression = compression}});
}

}  // namespace heddle::fatbin

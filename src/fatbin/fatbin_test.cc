// Packed containers read back equal; corrupt ones give an error and never read outside their bytes (run under ASan:
// every input below is in a heap block of exactly its size). Real compiler output: nvcc_test.cc.
#include "fatbin/fatbin.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>

#include "fatbin/extent.h"
#include "fatbin/layout.h"
#include "fatbin/pack.h"

namespace heddle::fatbin {
namespace {

constexpr std::string_view kPtx90 =
    "//\n// a comment\n//\n.version 9.0\n.target sm_90\n.address_size 64\n\n.visible .entry k() { ret; }\n";

std::string ptx_for(std::string_view target) {
  return ".version 8.7\n.target " + std::string(target) + "\n.address_size 64\n.visible .entry k() { ret; }\n";
}

Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// A heap block of exactly this size, so that ASan sees one byte too many.
struct Exact {
  explicit Exact(std::string_view data) : size(data.size()), data(new std::byte[size]) {
    std::memcpy(this->data.get(), data.data(), size);
  }
  Bytes bytes() const { return {data.get(), size}; }
  std::size_t size;
  std::unique_ptr<std::byte[]> data;
};

TEST(Fatbin, reads_what_it_packs) {
  for (Compression compression : {Compression::kStored, Compression::kLz4, Compression::kZstd}) {
    const auto packed = pack({{.content = kPtx90, .compression = compression, .options = "-O2 -g", .file_name = "k.cu"},
                              {.kind = Kind::kElf,
                               .content = "\x7f"
                                          "ELF-like",
                               .arch = 75,
                               .compression = compression}});
    ASSERT_TRUE(packed);
    EXPECT_EQ(packed->size() % 8, 0u);
    const Exact image(*packed);
    const auto units = parse_containers(image.bytes());
    ASSERT_TRUE(units);
    ASSERT_EQ(units->size(), 1u);
    ASSERT_EQ(units->front().size(), 2u);
    const Entry& ptx = units->front()[0];
    EXPECT_EQ(ptx.kind, Kind::kPtx);
    EXPECT_EQ(ptx.compression, compression);
    EXPECT_EQ(ptx.arch, 90u);
    EXPECT_EQ(ptx.major, 9u);
    EXPECT_EQ(ptx.minor, 0u);
    EXPECT_EQ(ptx.options, "-O2 -g");
    EXPECT_EQ(ptx.file_name, "k.cu");
    EXPECT_EQ(*extract(ptx), kPtx90);
    EXPECT_EQ(units->front()[1].kind, Kind::kElf);
    EXPECT_EQ(units->front()[1].arch, 75u);
    EXPECT_EQ(extract(units->front()[1])->substr(0, 9),
              "\x7f"
              "ELF-like");
  }
}

TEST(Fatbin, reads_containers_in_a_row) {
  const std::string both = *pack_ptx(kPtx90) + std::string(16, '\0') + *pack_ptx(ptx_for("sm_80"));
  const auto units = parse_containers(bytes_of(both));
  ASSERT_TRUE(units);
  ASSERT_EQ(units->size(), 2u);
  EXPECT_EQ(units->at(1).front().arch, 80u);
  const auto sources = load_ptx(bytes_of(both), 120);
  ASSERT_TRUE(sources);
  EXPECT_EQ(sources->size(), 2u);
}

// The wrapper is what registration passes: version 1 points at a container, version 2 has an array of units.
TEST(Fatbin, follows_wrappers) {
  const std::string one = *pack_ptx(kPtx90), two = *pack_ptx(ptx_for("sm_80"), Compression::kLz4);
  const std::string linked = *pack({{.kind = Kind::kElf, .content = "cubin", .arch = 90}});
  const WrapperRecord v1{kWrapperMagic, 1, one.data(), nullptr};
  EXPECT_EQ(detect(&v1), Format::kWrapper);
  auto sources = load_ptx(&v1, 120);
  ASSERT_TRUE(sources);
  EXPECT_EQ(sources->front().text, kPtx90);

  const void* units[] = {one.data(), two.data(), nullptr};
  const WrapperRecord v2{kWrapperMagic, 2, linked.data(), units};
  sources = load_ptx(&v2, 120);
  ASSERT_TRUE(sources);
  ASSERT_EQ(sources->size(), 2u);
  EXPECT_EQ(sources->at(1).arch, 80u);

  const void* none[] = {nullptr};
  const WrapperRecord only_linked{kWrapperMagic, 2, linked.data(), none};
  EXPECT_EQ(load_ptx(&only_linked, 120).error().code(), ErrorCode::kNoBinaryForGpu);
  const WrapperRecord newer{kWrapperMagic, 7, one.data(), nullptr};
  EXPECT_EQ(load_ptx(&newer, 120).error().code(), ErrorCode::kInvalidImage);
  const WrapperRecord nowhere{kWrapperMagic, 1, nullptr, nullptr};
  EXPECT_EQ(load_ptx(&nowhere, 120).error().code(), ErrorCode::kInvalidImage);
}

TEST(Fatbin, takes_plain_text) {
  EXPECT_EQ(detect(kPtx90.data()), Format::kPtx);
  EXPECT_EQ(*measure(kPtx90.data()), kPtx90.size() + 1);
  const auto sources = load_ptx(kPtx90.data(), 120);
  ASSERT_TRUE(sources);
  EXPECT_EQ(sources->front().text, kPtx90);
  EXPECT_EQ(sources->front().arch, 90u);
  // Broken text goes to the PTX compiler, which says where; bytes that are no text don't.
  EXPECT_EQ(detect("not PTX at all"), Format::kPtx);
  EXPECT_EQ(detect(""), Format::kUnknown);
  EXPECT_EQ(detect("\x01\x02\x03\x04"), Format::kUnknown);
  EXPECT_EQ(detect("!<arch>\nlib.o"), Format::kUnknown);
}

// The rule: same architecture; else the highest lower ordinary one; else the highest lower specific one.
TEST(Fatbin, selects_for_the_device) {
  const auto chosen = [](std::vector<std::string> targets, unsigned capability) -> std::string {
    std::vector<std::string> texts;
    for (const std::string& target : targets) texts.push_back(ptx_for(target));
    std::vector<PackEntry> entries{{.kind = Kind::kElf, .content = "cubin", .arch = 120}};
    for (const std::string& text : texts) entries.push_back({.content = text});
    const std::string packed = *pack(entries);
    const auto sources = load_ptx(bytes_of(packed), capability);
    if (!sources) return sources.error().code() == ErrorCode::kNoBinaryForGpu ? "none" : "error";
    const std::string& text = sources->front().text;
    const std::size_t start = text.find("sm_");
    return text.substr(start, text.find('\n', start) - start);
  };
  EXPECT_EQ(chosen({"sm_75", "sm_90", "sm_52"}, 120), "sm_90");
  EXPECT_EQ(chosen({"sm_75", "sm_90"}, 80), "sm_75");
  EXPECT_EQ(chosen({"sm_100", "sm_100f"}, 120), "sm_100");
  EXPECT_EQ(chosen({"sm_80", "sm_90a"}, 120), "sm_80");
  EXPECT_EQ(chosen({"sm_90a"}, 120), "sm_90a");
  EXPECT_EQ(chosen({"sm_120", "sm_120a"}, 120), "sm_120a");
  EXPECT_EQ(chosen({"sm_120"}, 90), "none");
  EXPECT_EQ(chosen({}, 120), "none");
}

TEST(Fatbin, reads_ptx_headers) {
  const PtxHeader plain = read_ptx_header(kPtx90);
  EXPECT_EQ(plain.major, 9u);
  EXPECT_EQ(plain.arch, 90u);
  const PtxHeader specific = read_ptx_header("/* x */ .version 8.0 .target sm_90a, debug\n");
  EXPECT_EQ(specific.suffix, 'a');
  EXPECT_EQ(read_ptx_header(".target").arch, 0u);
  EXPECT_EQ(read_ptx_header("/* never closed").major, 0u);
  EXPECT_EQ(read_ptx_header(".version 99999999999.1").major, 0u);
  EXPECT_EQ(pack_ptx("no version").error().code(), ErrorCode::kInvalidPtx);
}

// An image at the end of mapped memory that claims more than is there must not be followed beyond it.
TEST(Fatbin, stops_where_memory_ends) {
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* pages = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  auto* end = static_cast<std::byte*>(pages) + page;
  ASSERT_EQ(::mprotect(end, page, PROT_NONE), 0);
  EXPECT_EQ(readable_bytes(end - 100), 100u);
  EXPECT_EQ(readable_bytes(end), 0u);

  const std::string packed = *pack_ptx(kPtx90);
  std::memcpy(end - 100, packed.data(), 100);
  EXPECT_EQ(load_ptx(end - 100, 120).error().code(), ErrorCode::kInvalidImage);
  std::memcpy(end - 20, kPtx90.data(), 20);  // text without its NUL
  EXPECT_EQ(load_ptx(end - 20, 120).error().code(), ErrorCode::kInvalidImage);
  std::memcpy(end - 3, &kWrapperMagic, 3);
  EXPECT_EQ(load_ptx(end - 3, 120).error().code(), ErrorCode::kInvalidImage);
  EXPECT_EQ(load_ptx(end, 120).error().code(), ErrorCode::kInvalidImage);
  EXPECT_EQ(load_ptx(reinterpret_cast<const void*>(8), 120).error().code(), ErrorCode::kInvalidImage);
  EXPECT_EQ(load_ptx(static_cast<const void*>(nullptr), 120).error().code(), ErrorCode::kInvalidValue);
  ::munmap(pages, 2 * page);
}

// Reads everything that a damaged image offers; the test is that nothing crashes and nothing reads outside.
void read_all(Bytes image) {
  const auto units = parse_containers(image);
  if (!units) return;
  for (const Unit& unit : *units) {
    for (const Entry& entry : unit) {
      (void)extract(entry).status();
      EXPECT_LE(entry.options.size() + entry.file_name.size(), 2 * image.size());
    }
  }
  (void)load_ptx(image, 120).status();
}

class Damage : public testing::TestWithParam<Compression> {
 protected:
  const std::string packed_ =
      *pack({{.content = kPtx90, .compression = GetParam(), .options = "-O2", .file_name = "k.cu"},
             {.kind = Kind::kElf, .content = "cubin", .arch = 90, .compression = GetParam()}});
};

TEST_P(Damage, survives_every_truncation) {
  for (std::size_t size = 0; size < packed_.size(); ++size) {
    const Exact image(std::string_view(packed_).substr(0, size));
    EXPECT_FALSE(parse_containers(image.bytes())) << size;
    read_all(image.bytes());
  }
}
TEST_P(Damage, survives_every_flipped_byte) {
  for (std::size_t at = 0; at < packed_.size(); ++at) {
    for (unsigned mask : {0x01u, 0x80u, 0xFFu}) {
      std::string damaged = packed_;
      damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ mask);
      read_all(Exact(damaged).bytes());
    }
  }
}
TEST_P(Damage, survives_random_bytes) {
  std::mt19937 random(17);
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = packed_;
    for (int n = 0; n < 4; ++n) damaged[random() % damaged.size()] = static_cast<char>(random());
    read_all(Exact(damaged).bytes());
  }
}
INSTANTIATE_TEST_SUITE_P(Compressions, Damage,
                         testing::Values(Compression::kStored, Compression::kLz4, Compression::kZstd));

}  // namespace
}  // namespace heddle::fatbin

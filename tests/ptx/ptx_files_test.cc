// Runs every file of this folder (or those named on the command line) on the interpreter and on generated code, and
// compares with the recorded values. The form of the files: ptx_file.h.
//
//   ptx_files_test                     all files
//   ptx_files_test FILE.ptx ...        these, telling every difference
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "ptx/ptx_file.h"
#include "support/kernel_runner.h"

namespace heddle {
namespace {

using ptx_file::Buffer;
using ptx_file::File;

/// Memory of a file's buffers for one run.
struct Buffers {
  explicit Buffers(const File& file) {
    for (const Buffer& buffer : file.buffers) {
      const std::vector<unsigned char> bytes = ptx_file::bytes_of(buffer);
      memory.emplace_back(bytes.size() / 8 + 40, 0xa5a5a5a5a5a5a5a5);  // margins that must stay as they are
      if (!bytes.empty()) std::memcpy(at(memory.size() - 1), bytes.data(), bytes.size());
    }
  }
  unsigned char* at(std::size_t i) {
    const auto base = reinterpret_cast<std::uintptr_t>(memory[i].data());
    return reinterpret_cast<unsigned char*>((base + 64 + 63) / 64 * 64);
  }
  std::uint64_t value(const File& file, std::size_t i, std::size_t k) {
    const std::size_t size = ptx_file::size_of(file.buffers[i].type);
    std::uint64_t bits = 0;
    std::memcpy(&bits, at(i) + k * size, size);
    return bits;
  }
  bool margins_intact(const File& file, std::size_t i) {
    const std::size_t size = ptx_file::size_of(file.buffers[i].type) * file.buffers[i].count;
    return at(i)[-1] == 0xa5 && at(i)[size] == 0xa5;
  }
  std::vector<std::vector<std::uint64_t>> memory;
};

class PtxFile : public testing::Test {
 public:
  PtxFile(std::string path, std::size_t engine, bool verbose)
      : path_(std::move(path)), engine_(engine), verbose_(verbose) {}

  void TestBody() override {
    const File file = ptx_file::parse(path_);
    ASSERT_EQ(file.error, "") << path_;
    const test::Dim block{file.block[0], file.block[1], file.block[2]};
    const test::EngineVariant engine = test::engine_variants(block)[engine_];
    std::string error;
    const auto module = test::LoadedModule::load(file.text, &error);
    if (!file.unsupported.empty() && !module) return;
    ASSERT_TRUE(module) << error;
    bool no_jit = false;
    const auto kernel = module->compile(file.kernel, engine.variant, &error, &no_jit);
    if (no_jit) GTEST_SKIP() << "the JIT library is not there";
    if (!file.unsupported.empty() && !kernel) return;
    ASSERT_TRUE(kernel) << error;
    if (engine.use_range && !kernel->range) return;  // the same code as by warps, which another variant runs

    Buffers buffers(file);
    test::LaunchSpec spec;
    spec.grid = {file.grid[0], file.grid[1], file.grid[2]};
    spec.block = block;
    spec.dynamic_shared = file.shared;
    spec.cooperative = file.cooperative;
    spec.use_range = engine.use_range;
    spec.globals = module->globals_of(*kernel);
    place_parameters(file, *module, buffers, spec);
    const test::LaunchResult result = test::run_grid(*kernel, spec);
    if (!file.unsupported.empty()) {
      // The day it works, the line goes.
      EXPECT_EQ(result.code, ErrorCode::kNotSupported) << file.unsupported << " is supported now";
      return;
    }
    ASSERT_TRUE(result.ok()) << result.what << ", error " << static_cast<int>(result.code) << ", thread "
                             << result.thread << ", line " << result.ptx_line;
    compare(file, buffers);
  }

 private:
  void place_parameters(const File& file, const test::LoadedModule& module, Buffers& buffers, test::LaunchSpec& spec) {
    for (const compiler::KernelInfo& info : module.module().kernels()) {
      if (info.name != file.kernel) continue;
      ASSERT_EQ(info.parameters.size(), file.buffers.size());
      spec.params.resize(info.param_bytes + 8);
      for (std::size_t i = 0; i < file.buffers.size(); ++i) {
        std::uint64_t bits = reinterpret_cast<std::uint64_t>(buffers.at(i));
        if (file.buffers[i].kind == Buffer::Kind::kScalar) bits = file.buffers[i].values[0];
        std::memcpy(&spec.params[info.parameters[i].offset], &bits, std::min<std::size_t>(info.parameters[i].size, 8));
      }
    }
  }

  void compare(const File& file, Buffers& buffers) {
    for (std::size_t i = 0; i < file.buffers.size(); ++i) {
      const Buffer& buffer = file.buffers[i];
      EXPECT_TRUE(buffers.margins_intact(file, i)) << "wrote outside of " << buffer.name;
      if (!buffer.is_output()) continue;
      EXPECT_FALSE(buffer.want.empty()) << "no values are recorded for " << buffer.name << ": see record.cc";
      int differences = 0;
      for (std::size_t k = 0; k < buffer.want.size(); ++k) {
        const std::uint64_t have = buffers.value(file, i, k);
        if (ptx_file::equal(buffer, buffer.want[k], have)) continue;
        if (++differences > (verbose_ ? 1000000 : 2)) continue;
        ADD_FAILURE() << buffer.name << "[" << k << "]: wanted " << ptx_file::hex(buffer.type, buffer.want[k])
                      << ", have " << ptx_file::hex(buffer.type, have) << inputs_at(file, k) << written_by(file, i);
      }
      EXPECT_EQ(differences, 0) << buffer.name;
    }
  }

  static std::string inputs_at(const File& file, std::size_t k) {
    std::string text;
    for (const Buffer& buffer : file.buffers)
      if (!buffer.values.empty() && k < buffer.values.size() && buffer.kind == Buffer::Kind::kIn)
        text += "  " + buffer.name + "=" + ptx_file::hex(buffer.type, buffer.values[k]);
    return text;
  }

  /// In element-wise files: the instruction that writes register %dN.
  static std::string written_by(const File& file, std::size_t buffer) {
    std::stringstream lines(file.text);
    std::string line, found;
    const std::string name = " %" + file.buffers[buffer].name + ",";
    while (std::getline(lines, line))
      if (line.find(name) != std::string::npos && line.find("st.") == std::string::npos && line.find("//") != 0)
        found = "\n" + line;
    return found;
  }

  std::string path_;
  std::size_t engine_;
  bool verbose_;
};

void register_file(const std::string& path, bool verbose) {
  const std::string name = std::filesystem::path(path).stem().string();
  const auto engines = test::engine_variants({});
  for (std::size_t i = 0; i < engines.size(); ++i) {
    std::string suite = engines[i].name;
    std::replace(suite.begin(), suite.end(), ' ', '_');
    testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [path, i, verbose]() -> PtxFile* { return new PtxFile(path, i, verbose); });
  }
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  std::vector<std::string> files(argv + 1, argv + argc);
  const bool verbose = !files.empty();
  if (files.empty()) {
    for (const auto& entry : std::filesystem::directory_iterator(HEDDLE_PTX_FILES))
      if (entry.path().extension() == ".ptx") files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
  }
  for (const std::string& file : files) heddle::register_file(file, verbose);
  return RUN_ALL_TESTS();
}

// The differential test: random kernels (generator.h) on the interpreter and on generated code at several widths must
// give the same bits. Deterministic by seed; stops at the first difference, with the kernel made small.
//
//   differential --seconds 20               seeds 1, 2, ... for so long
//   differential --first 77 --count 1       one seed
//   differential --write DIR --count 100    only writes the kernels as files in the form of tests/ptx, with what the
//                                           interpreter gives, so that a GPU can judge it (tests/ptx/record.cc --check)
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "fuzz/generator.h"
#include "support/kernel_runner.h"

namespace heddle::fuzz {
namespace {

char g_current[128] = "";  ///< for the crash handler

struct Outcome {
  bool ran = false, no_jit = false;
  std::string error;
  std::vector<std::uint32_t> out;
};

std::vector<std::uint32_t> inputs(std::uint64_t seed, std::size_t count) {
  static constexpr std::uint32_t kSpecial[] = {0,          1,          2,          31,         32,         0xffffffff,
                                               0x80000000, 0x7fffffff, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                               0x7fffffff, 0x00800000, 0x00000001, 0x807fffff, 0x7f7fffff, 0x40490fdb};
  std::mt19937_64 random(seed);
  std::vector<std::uint32_t> words(count);
  for (std::uint32_t& word : words) {
    const std::uint64_t r = random();
    word = r % 3 == 0   ? kSpecial[(r >> 8) % std::size(kSpecial)]
           : r % 3 == 1 ? static_cast<std::uint32_t>(r >> 40) % 64
                        : static_cast<std::uint32_t>(r >> 16);
  }
  return words;
}

Outcome run(const Kernel& kernel, const std::string& ptx, std::uint64_t seed, const test::EngineVariant& engine) {
  Outcome outcome;
  const auto module = test::LoadedModule::load(ptx, &outcome.error);
  if (!module) return outcome;
  const auto compiled = module->compile("k", engine.variant, &outcome.error, &outcome.no_jit);
  if (!compiled) return outcome;
  const std::size_t words = std::size_t{kernel.threads()} * kernel.grid * kWordsPerThread;
  std::vector<std::uint32_t> in = inputs(seed, words);
  outcome.out.assign(words, 0xdeadbeef);
  test::LaunchSpec spec;
  spec.grid = {kernel.grid, 1, 1};
  spec.block = {kernel.block[0], kernel.block[1], kernel.block[2]};
  spec.use_range = engine.use_range;
  spec.globals = module->globals_of(*compiled);
  const std::uint32_t* pointers[2] = {in.data(), outcome.out.data()};
  spec.params.resize(16);
  std::memcpy(spec.params.data(), pointers, 16);
  const test::LaunchResult result = test::run_grid(*compiled, spec);
  outcome.ran = result.ok();
  if (!result.ok()) outcome.error = result.what + " in line " + std::to_string(result.ptx_line);
  return outcome;
}

/// "" if both agree.
std::string difference(const Outcome& want, const Outcome& have) {
  if (!have.ran) return have.error;
  for (std::size_t i = 0; i < want.out.size(); ++i) {
    if (want.out[i] == have.out[i]) continue;
    char text[160];
    std::snprintf(text, sizeof text, "thread %zu, word %zu: the interpreter gives %08x, the code %08x",
                  i / kWordsPerThread, i % kWordsPerThread, want.out[i], have.out[i]);
    return text;
  }
  return "";
}

/// A line that may be left out without changing what makes the kernel deterministic and finite.
bool is_removable(const std::string& line) {
  static constexpr const char* kFixed[] = {
      "bra",      "bar.",    "%n",       "%c",    ".reg",  ".param", ":",   "{",   "}", "ret", ".shared .align",
      ".version", ".target", ".address", "%base", "%slot", "%mine",  "%in", "%out"};
  for (const char* fixed : kFixed)
    if (line.find(fixed) != std::string::npos && line.find("mov.b64") == std::string::npos) return false;
  return !line.empty();
}

std::string minimise(const Kernel& kernel, std::uint64_t seed, const test::EngineVariant& interpreter,
                     const test::EngineVariant& engine) {
  std::vector<std::string> lines;
  std::stringstream text(kernel.ptx);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  const auto join = [](const std::vector<std::string>& list) {
    std::string all;
    for (const std::string& line : list) all += line + "\n";
    return all;
  };
  const auto start = std::chrono::steady_clock::now();
  const auto in_time = [&] { return std::chrono::steady_clock::now() - start < std::chrono::seconds(20); };
  for (std::size_t chunk = 16; chunk >= 1; chunk /= 2) {
    for (std::size_t at = 0; at < lines.size() && in_time();) {
      std::vector<std::string> fewer;
      bool removed = false;
      for (std::size_t i = 0; i < lines.size(); ++i) {
        const bool drop = i >= at && i < at + chunk && is_removable(lines[i]);
        removed = removed || drop;
        if (!drop) fewer.push_back(lines[i]);
      }
      if (removed) {
        const std::string ptx = join(fewer);
        const Outcome want = run(kernel, ptx, seed, interpreter);
        if (want.ran && !difference(want, run(kernel, ptx, seed, engine)).empty()) {
          lines = fewer;
          continue;
        }
      }
      at += chunk;
    }
  }
  return join(lines);
}

void write_file(const std::string& folder, std::uint64_t seed, const Kernel& kernel, const Outcome& outcome) {
  const auto list = [](const std::vector<std::uint32_t>& words) {
    std::string text;
    char word[16];
    for (std::size_t i = 0; i < words.size(); ++i) {
      std::snprintf(word, sizeof word, "%s%08x", i % 14 == 0 ? "\n//   " : " ", words[i]);
      text += word;
    }
    return text + "\n";
  };
  std::ofstream file(folder + "/fuzz_" + std::to_string(seed) + ".ptx");
  file << "// random kernel of seed " << seed << "\n// run: k grid " << kernel.grid << " block " << kernel.block[0]
       << "," << kernel.block[1] << "," << kernel.block[2] << "\n// in a: u32" << list(inputs(seed, outcome.out.size()))
       << "// inout d: u32 exact" << list(std::vector<std::uint32_t>(outcome.out.size(), 0xdeadbeef))
       << "// values: the interpreter's\n// want d:" << list(outcome.out) << kernel.ptx;
}

int run_all(std::uint64_t first, std::uint64_t count, double seconds, const std::string& folder,
            const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t kernels = 0, comparisons = 0;
  bool no_jit = false;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds) break;
    const Kernel kernel = generate(seed, options);
    const auto engines = test::engine_variants({kernel.block[0], kernel.block[1], kernel.block[2]});
    std::snprintf(g_current, sizeof g_current, "seed %llu, interpreter\n", static_cast<unsigned long long>(seed));
    const Outcome want = run(kernel, kernel.ptx, seed, engines[0]);
    if (!want.ran) {
      std::printf("seed %llu: the interpreter failed: %s\n%s", static_cast<unsigned long long>(seed),
                  want.error.c_str(), kernel.ptx.c_str());
      return 1;
    }
    ++kernels;
    if (!folder.empty()) {
      write_file(folder, seed, kernel, want);
      continue;
    }
    for (std::size_t e = 1; e < engines.size(); ++e) {
      std::snprintf(g_current, sizeof g_current, "seed %llu, %s\n", static_cast<unsigned long long>(seed),
                    engines[e].name.c_str());
      const Outcome have = run(kernel, kernel.ptx, seed, engines[e]);
      no_jit = no_jit || have.no_jit;
      if (have.no_jit) break;
      ++comparisons;
      const std::string what = difference(want, have);
      if (what.empty()) continue;
      std::printf("seed %llu, %s differs: %s; making it small\n", static_cast<unsigned long long>(seed),
                  engines[e].name.c_str(), what.c_str());
      std::fflush(stdout);
      const std::string small = minimise(kernel, seed, engines[0], engines[e]);
      std::printf("%s\nseed %llu, block %u,%u,%u, grid %u, %s: %s\n", small.c_str(),
                  static_cast<unsigned long long>(seed), kernel.block[0], kernel.block[1], kernel.block[2], kernel.grid,
                  engines[e].name.c_str(), what.c_str());
      return 1;
    }
  }
  std::printf("%llu kernels, %llu comparisons%s\n", static_cast<unsigned long long>(kernels),
              static_cast<unsigned long long>(comparisons),
              no_jit ? " (the JIT library is not there: only the interpreter ran)" : "");
  return 0;
}

}  // namespace
}  // namespace heddle::fuzz

int main(int argc, char** argv) {
  std::uint64_t first = 1, count = ~0ull >> 1;
  double seconds = 1e9;
  std::string folder;
  heddle::fuzz::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "0";
    if (argument == "--no-floats") {
      options.floats = false;
      continue;
    }
    ++i;
    if (argument == "--first") first = std::strtoull(value, nullptr, 10);
    if (argument == "--count") count = std::strtoull(value, nullptr, 10);
    if (argument == "--seconds") seconds = std::atof(value);
    if (argument == "--write") folder = value;
    if (argument == "--statements") options.statements = std::atoi(value);
  }
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) {
    std::signal(signal, [](int) {
      constexpr char kText[] = "crashed at ";
      (void)!write(2, kText, sizeof kText - 1);
      (void)!write(2, heddle::fuzz::g_current, std::strlen(heddle::fuzz::g_current));
      _exit(1);
    });
  }
  return heddle::fuzz::run_all(first, count, seconds, folder, options);
}

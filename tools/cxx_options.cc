// nvcc's command line as a table: see cxx_options.h. The meaning of each option is that of nvcc's manual
// ("NVCC Command Options"). Tested by cxx_test.cc.
#include "cxx_options.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace heddle::tools {
namespace {

using Handler = void (*)(CxxOptions&, const std::string& value);

enum class Argument {
  kNone,      // --verbose
  kValue,     // --output-file x, --output-file=x
  kJoined,    // -Ifoo, -I foo, -I=foo
  kOptional,  // -O3, --Werror=x: never the next word
};

struct Row {
  const char* long_name;   // with two dashes, or with one, as nvcc takes both
  const char* short_name;  // with one dash
  Argument argument;
  Handler handle;
};

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::string part;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
      part += text[++i];
    } else if (text[i] == ',') {
      parts.push_back(part);
      part.clear();
    } else {
      part += text[i];
    }
  }
  parts.push_back(part);
  parts.erase(std::remove(parts.begin(), parts.end(), std::string()), parts.end());
  return parts;
}

std::vector<std::string> split_blanks(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string unquote(std::string text) {
  if (text.size() > 1 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
    return text.substr(1, text.size() - 2);
  return text;
}

void add(std::vector<std::string>& list, const char* flag, const std::string& value) { list.push_back(flag + value); }

void set_phase(CxxOptions& options, Phase phase) {
  // -M and -E win over -c, as nvcc reads them; -dc -o x.o -c is common too.
  options.phase = phase;
}

void add_architectures(CxxOptions& options, const std::string& text) {
  std::string list = text;
  list.erase(std::remove_if(list.begin(), list.end(), [](char c) { return c == '[' || c == ']' || c == '"'; }),
             list.end());
  for (const std::string& name : split_commas(list)) options.architectures.push_back(name);
}

// "arch=compute_80,code=[sm_80,compute_80]": both halves name architectures.
void add_gencode(CxxOptions& options, const std::string& value) {
  std::string text = unquote(value);
  size_t code = text.find("code=");
  size_t arch = text.find("arch=");
  if (arch == std::string::npos) {
    options.error = "-gencode needs arch=..., for example arch=compute_80,code=sm_80, not '" + value + "'";
    return;
  }
  size_t end = code != std::string::npos && code > arch ? code : text.size();
  add_architectures(options, text.substr(arch + 5, end - arch - 5));
}

bool is_true(const std::string& value) { return value == "true" || value == "1" || value.empty(); }

void add_host_flags(CxxOptions& options, const std::string& value) {
  for (const std::string& list : split_commas(unquote(value))) {
    for (const std::string& flag : split_blanks(list)) {
      if (flag == "-fopenmp" || flag == "-openmp") options.openmp = true;
      if (flag.rfind("-Wl,", 0) == 0) options.linker.push_back(flag);
      // Code generation for the host's processor means nothing to the device pass, which refuses it.
      if (flag.rfind("-m", 0) == 0) options.compiler.push_back("-Xarch_host");
      if (flag.rfind("-Wl,", 0) != 0) options.compiler.push_back(flag);
      if (flag == "-pthread") options.linker.push_back(flag);
    }
  }
}

void ignore(CxxOptions&, const std::string&) {}

const Row kRows[] = {
    {"output-file", "o", Argument::kValue, [](CxxOptions& o, const std::string& v) { o.output = v; }},
    {"compile", "c", Argument::kNone, [](CxxOptions& o, const std::string&) { set_phase(o, Phase::kCompile); }},
    {"device-c", "dc", Argument::kNone,
     [](CxxOptions& o, const std::string&) {
       set_phase(o, Phase::kCompile);
       o.relocatable = true;
     }},
    {"device-w", "dw", Argument::kNone,
     [](CxxOptions& o, const std::string&) {
       set_phase(o, Phase::kCompile);
       o.relocatable = false;
     }},
    {"device-link", "dlink", Argument::kNone,
     [](CxxOptions& o, const std::string&) { set_phase(o, Phase::kDeviceLink); }},
    {"link", "link", Argument::kNone, [](CxxOptions& o, const std::string&) { set_phase(o, Phase::kLink); }},
    {"lib", "lib", Argument::kNone, [](CxxOptions& o, const std::string&) { set_phase(o, Phase::kArchive); }},
    {"run", "run", Argument::kNone, [](CxxOptions& o, const std::string&) { o.run_after = true; }},
    {"preprocess", "E", Argument::kNone, [](CxxOptions& o, const std::string&) { set_phase(o, Phase::kPreprocess); }},
    {"ptx", "ptx", Argument::kNone, [](CxxOptions& o, const std::string&) { set_phase(o, Phase::kPtx); }},
    {"cubin", "cubin", Argument::kNone, [](CxxOptions& o, const std::string&) { set_phase(o, Phase::kCubin); }},
    {"fatbin", "fatbin", Argument::kNone, [](CxxOptions& o, const std::string&) { set_phase(o, Phase::kFatbin); }},
    {"generate-dependencies", "M", Argument::kNone,
     [](CxxOptions& o, const std::string&) {
       set_phase(o, Phase::kDependencies);
       o.dependency.push_back("-M");
     }},
    {"generate-nonsystem-dependencies", "MM", Argument::kNone,
     [](CxxOptions& o, const std::string&) {
       set_phase(o, Phase::kDependencies);
       o.dependency.push_back("-MM");
     }},
    {"generate-dependencies-with-compile", "MD", Argument::kNone,
     [](CxxOptions& o, const std::string&) { o.dependency.push_back("-MD"); }},
    {"generate-nonsystem-dependencies-with-compile", "MMD", Argument::kNone,
     [](CxxOptions& o, const std::string&) { o.dependency.push_back("-MMD"); }},
    {"generate-dependency-targets", "MP", Argument::kNone,
     [](CxxOptions& o, const std::string&) { o.dependency.push_back("-MP"); }},
    {"dependency-output", "MF", Argument::kValue,
     [](CxxOptions& o, const std::string& v) {
       o.dependency.push_back("-MF");
       o.dependency.push_back(v);
     }},
    {"dependency-target-name", "MT", Argument::kValue,
     [](CxxOptions& o, const std::string& v) {
       o.dependency.push_back("-MT");
       o.dependency.push_back(v);
     }},
    {"", "MQ", Argument::kValue,
     [](CxxOptions& o, const std::string& v) {
       o.dependency.push_back("-MQ");
       o.dependency.push_back(v);
     }},
    {"include-path", "I", Argument::kJoined,
     [](CxxOptions& o, const std::string& v) {
       for (const std::string& path : split_commas(v)) add(o.preprocessor, "-I", path);
     }},
    {"system-include", "isystem", Argument::kValue,
     [](CxxOptions& o, const std::string& v) {
       for (const std::string& path : split_commas(v)) add(o.preprocessor, "-isystem", path);
     }},
    {"pre-include", "include", Argument::kValue,
     [](CxxOptions& o, const std::string& v) {
       o.preprocessor.push_back("-include");
       o.preprocessor.push_back(v);
     }},
    {"define-macro", "D", Argument::kJoined,
     [](CxxOptions& o, const std::string& v) { add(o.preprocessor, "-D", v); }},
    {"undefine-macro", "U", Argument::kJoined,
     [](CxxOptions& o, const std::string& v) { add(o.preprocessor, "-U", v); }},
    {"library-path", "L", Argument::kJoined,
     [](CxxOptions& o, const std::string& v) {
       for (const std::string& path : split_commas(v)) add(o.linker, "-L", path);
     }},
    {"library", "l", Argument::kJoined,
     [](CxxOptions& o, const std::string& v) {
       for (const std::string& name : split_commas(v)) o.inputs.push_back({"-l" + name, false, ""});
     }},
    {"gpu-architecture", "arch", Argument::kValue,
     [](CxxOptions& o, const std::string& v) { add_architectures(o, v); }},
    // -code names what is packed; PTX of the -arch is what we pack.
    {"gpu-code", "code", Argument::kValue, ignore},
    {"generate-code", "gencode", Argument::kValue, add_gencode},
    {"relocatable-device-code", "rdc", Argument::kValue,
     [](CxxOptions& o, const std::string& v) { o.relocatable = is_true(v); }},
    {"std", "std", Argument::kValue, [](CxxOptions& o, const std::string& v) { o.standard = v; }},
    {"optimize", "O", Argument::kOptional,
     [](CxxOptions& o, const std::string& v) { add(o.compiler, "-O", v == "" ? "2" : v); }},
    {"debug", "g", Argument::kNone, [](CxxOptions& o, const std::string&) { o.host_debug = true; }},
    {"device-debug", "G", Argument::kNone, [](CxxOptions& o, const std::string&) { o.device_debug = true; }},
    {"generate-line-info", "lineinfo", Argument::kNone, [](CxxOptions& o, const std::string&) { o.line_info = true; }},
    {"profile", "pg", Argument::kNone,
     [](CxxOptions& o, const std::string&) {
       o.compiler.push_back("-Xarch_host");
       o.compiler.push_back("-pg");
       o.linker.push_back("-pg");
     }},
    {"shared", "shared", Argument::kNone, [](CxxOptions& o, const std::string&) { o.shared_library = true; }},
    {"compiler-bindir", "ccbin", Argument::kValue,
     [](CxxOptions& o, const std::string& v) { o.host_compiler = v; }},
    {"compiler-options", "Xcompiler", Argument::kValue, add_host_flags},
    {"linker-options", "Xlinker", Argument::kValue,
     [](CxxOptions& o, const std::string& v) {
       for (const std::string& flag : split_commas(unquote(v))) {
         o.linker.push_back("-Xlinker");
         o.linker.push_back(flag);
       }
     }},
    {"archive-options", "Xarchive", Argument::kValue, ignore},
    {"ptxas-options", "Xptxas", Argument::kValue,
     [](CxxOptions& o, const std::string& v) {
       // The machine code of a GPU is not made here; the one option with a meaning is the optimisation level.
       for (const std::string& flag : split_commas(unquote(v)))
         if (flag.rfind("-maxrregcount=", 0) == 0) o.max_registers = std::atoi(flag.c_str() + 14);
     }},
    {"nvlink-options", "Xnvlink", Argument::kValue, ignore},
    {"fatbinary-options", "Xfatbin", Argument::kValue, ignore},
    {"", "Xcudafe", Argument::kValue, ignore},
    {"", "Xcicc", Argument::kValue, ignore},
    {"cudart", "cudart", Argument::kValue,
     [](CxxOptions& o, const std::string& v) {
       if (v == "static") {
         o.cudart = CudaRuntime::kStatic;
       } else if (v == "shared") {
         o.cudart = CudaRuntime::kShared;
       } else if (v == "none") {
         o.cudart = CudaRuntime::kNone;
       } else {
         o.error = "-cudart takes static, shared or none, not '" + v + "'";
       }
     }},
    {"cudadevrt", "cudadevrt", Argument::kValue, ignore},
    {"use_fast_math", "use_fast_math", Argument::kNone,
     [](CxxOptions& o, const std::string&) {
       o.fast_math = o.flush_denormals = o.approximate_division = o.approximate_root = true;
     }},
    {"ftz", "ftz", Argument::kValue, [](CxxOptions& o, const std::string& v) { o.flush_denormals = is_true(v); }},
    {"prec-div", "prec-div", Argument::kValue,
     [](CxxOptions& o, const std::string& v) { o.approximate_division = !is_true(v); }},
    {"prec-sqrt", "prec-sqrt", Argument::kValue,
     [](CxxOptions& o, const std::string& v) { o.approximate_root = !is_true(v); }},
    {"fmad", "fmad", Argument::kValue, [](CxxOptions& o, const std::string& v) { o.contract = is_true(v); }},
    {"maxrregcount", "maxrregcount", Argument::kValue,
     [](CxxOptions& o, const std::string& v) { o.max_registers = std::atoi(v.c_str()); }},
    {"extended-lambda", "extended-lambda", Argument::kNone,
     [](CxxOptions& o, const std::string&) { o.extended_lambda = true; }},
    {"expt-extended-lambda", "expt-extended-lambda", Argument::kNone,
     [](CxxOptions& o, const std::string&) { o.extended_lambda = true; }},
    {"expt-relaxed-constexpr", "expt-relaxed-constexpr", Argument::kNone,
     [](CxxOptions& o, const std::string&) { o.relaxed_constexpr = true; }},
    {"default-stream", "default-stream", Argument::kValue,
     [](CxxOptions& o, const std::string& v) {
       if (v != "legacy" && v != "null" && v != "per-thread")
         o.error = "-default-stream takes legacy, null or per-thread, not '" + v + "'";
       o.per_thread_stream = v == "per-thread";
     }},
    {"disable-warnings", "w", Argument::kNone,
     [](CxxOptions& o, const std::string&) { o.compiler.push_back("-w"); }},
    {"Werror", "Werror", Argument::kValue,
     [](CxxOptions& o, const std::string& v) {
       if (v.find("all-warnings") != std::string::npos) o.compiler.push_back("-Werror");
     }},
    {"verbose", "v", Argument::kNone, [](CxxOptions& o, const std::string&) { o.verbose = true; }},
    {"dryrun", "dryrun", Argument::kNone, [](CxxOptions& o, const std::string&) { o.dry_run = true; }},
    {"keep", "keep", Argument::kNone, [](CxxOptions& o, const std::string&) { o.keep = true; }},
    {"save-temps", "save-temps", Argument::kNone, [](CxxOptions& o, const std::string&) { o.keep = true; }},
    {"version", "V", Argument::kNone, [](CxxOptions& o, const std::string&) { o.show_version = true; }},
    {"help", "h", Argument::kNone, [](CxxOptions& o, const std::string&) { o.show_help = true; }},
    // Accepted without effect: they tune NVIDIA's own passes or describe what is always so here.
    {"keep-dir", "keep-dir", Argument::kValue, ignore},
    {"threads", "t", Argument::kValue, ignore},
    {"split-compile", "split-compile", Argument::kValue, ignore},
    {"machine", "m", Argument::kJoined, ignore},
    {"forward-unknown-to-host-compiler", "forward-unknown-to-host-compiler", Argument::kNone, ignore},
    {"forward-unknown-to-host-linker", "forward-unknown-to-host-linker", Argument::kNone, ignore},
    {"forward-unknown-opts", "forward-unknown-opts", Argument::kNone, ignore},
    {"allow-unsupported-compiler", "allow-unsupported-compiler", Argument::kNone, ignore},
    {"dlink-time-opt", "dlto", Argument::kNone, ignore},
    {"gen-opt-lto", "gen-opt-lto", Argument::kNone, ignore},
    {"restrict", "restrict", Argument::kNone, ignore},
    {"resource-usage", "res-usage", Argument::kNone, ignore},
    {"extra-device-vectorization", "extra-device-vectorization", Argument::kNone, ignore},
    {"source-in-ptx", "src-in-ptx", Argument::kNone, ignore},
    {"Wno-deprecated-gpu-targets", "Wno-deprecated-gpu-targets", Argument::kNone, ignore},
    {"Wno-deprecated-declarations", "Wno-deprecated-declarations", Argument::kNone,
     [](CxxOptions& o, const std::string&) { o.compiler.push_back("-Wno-deprecated-declarations"); }},
    {"compress-mode", "compress-mode", Argument::kValue, ignore},
    {"no-compress", "no-compress", Argument::kNone, ignore},
    {"diag-suppress", "diag-suppress", Argument::kValue, ignore},
    {"diag-error", "diag-error", Argument::kValue, ignore},
    {"diag-warn", "diag-warn", Argument::kValue, ignore},
    {"display-error-number", "err-no", Argument::kNone, ignore},
    {"no-display-error-number", "no-err-no", Argument::kNone, ignore},
    {"time", "time", Argument::kValue, ignore},
    {"objdir-as-tempdir", "objtemp", Argument::kNone, ignore},
    {"clean-targets", "clean", Argument::kNone, ignore},
    {"library-directory", "ldir", Argument::kValue, ignore},
    {"target-directory", "target-dir", Argument::kValue, ignore},
    {"cuda-path", "cuda-path", Argument::kValue, ignore},  // ours is always used
};

// The row for a word, and the value inside it. `*joined` tells whether the word itself holds the value.
const Row* find_row(const std::string& word, std::string* value, bool* joined) {
  bool two = word.rfind("--", 0) == 0;
  std::string name = word.substr(two ? 2 : 1);
  size_t equals = name.find('=');
  std::string head = equals == std::string::npos ? name : name.substr(0, equals);
  for (const Row& row : kRows) {
    bool same = (*row.long_name && head == row.long_name) || (!two && head == row.short_name);
    if (!same) continue;
    *joined = equals != std::string::npos;
    *value = *joined ? name.substr(equals + 1) : "";
    if (*joined && row.argument == Argument::kNone) continue;
    return &row;
  }
  if (two) return nullptr;
  for (const Row& row : kRows) {
    if (row.argument != Argument::kJoined && row.argument != Argument::kOptional) continue;
    std::string prefix = row.short_name;
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    if (prefix == "m" && name != "m64" && name != "m32") continue;
    if (prefix == "O" && name.size() > 1 && !std::isalnum(static_cast<unsigned char>(name[1]))) continue;
    *joined = true;
    *value = name.substr(prefix.size());
    return &row;
  }
  return nullptr;
}

// Options of the host compiler that people give without -Xcompiler. nvcc wants
// -forward-unknown-to-host-compiler for that; here it is the natural reading.
bool is_host_flag(const std::string& word) {
  static const char* const kPrefixes[] = {"-W",  "-f",     "-m",        "-pthread", "-pedantic",
                                          "-no", "-nostd", "-rdynamic", "-pie"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](const char* prefix) { return word.rfind(prefix, 0) == 0; });
}

std::vector<std::string> read_options_file(const std::string& path, CxxOptions& options) {
  std::ifstream in(path);
  if (!in) {
    options.error = "can't read the options file '" + path + "'";
    return {};
  }
  std::vector<std::string> words;
  std::string word;
  bool any = false;
  char quote = 0;
  for (char c; in.get(c);) {
    if (quote ? c == quote : (c == '"' || c == '\'')) {
      quote = quote ? 0 : c;
      any = true;
    } else if (c == '\\' && in.peek() != EOF && quote != '\'') {
      word += static_cast<char>(in.get());
      any = true;
    } else if (!quote && std::isspace(static_cast<unsigned char>(c))) {
      if (any) words.push_back(word);
      word.clear();
      any = false;
    } else {
      word += c;
      any = true;
    }
  }
  if (any) words.push_back(word);
  return words;
}

void parse_words(const std::vector<std::string>& words, CxxOptions& options, std::string& language, int depth) {
  for (size_t i = 0; i < words.size(); i++) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-') {
      options.inputs.push_back({word, true, language});
      continue;
    }
    auto next = [&](const std::string& name) -> std::string {
      if (i + 1 < words.size()) return words[++i];
      if (options.error.empty()) options.error = "option '" + name + "' needs an argument";
      return "";
    };
    if (word == "-x" || word == "--x" || word == "--language") {
      std::string name = next(word);
      language = name == "cuda" ? "cu" : name == "none" ? "" : name;
      continue;
    }
    if (word == "--options-file" || word == "-optf" || word.rfind("--options-file=", 0) == 0) {
      size_t equals = word.find('=');
      std::string path = equals == std::string::npos ? next(word) : word.substr(equals + 1);
      if (depth > 8) {
        options.error = "options files name each other in a circle: " + path;
        return;
      }
      for (const std::string& file : split_commas(path))
        parse_words(read_options_file(file, options), options, language, depth + 1);
      continue;
    }
    if (word.rfind("-Wl,", 0) == 0) {
      options.inputs.push_back({word, false, ""});
      continue;
    }
    std::string value;
    bool joined = false;
    if (const Row* row = find_row(word, &value, &joined)) {
      bool wants = row->argument == Argument::kValue || row->argument == Argument::kJoined;
      if (wants && !joined) value = next(word);
      row->handle(options, value);
      continue;
    }
    if (word.rfind("-std=", 0) == 0) {
      options.standard = word.substr(5);
    } else if (is_host_flag(word)) {
      add_host_flags(options, word);
    } else if (word == "-static" || word == "-s") {
      options.linker.push_back(word);
    } else {
      options.ignored.push_back(word);
    }
  }
}

}  // namespace

CxxOptions parse_cxx_options(const std::vector<std::string>& words) {
  CxxOptions options;
  std::string language;
  parse_words(words, options, language, 0);
  return options;
}

std::string choose_target(const std::vector<std::string>& architectures) {
  // nvcc 13's own default: what every GPU that CUDA 13 knows can run.
  constexpr int kDefault = 75, kHighest = 90, kLowest = 50;
  int best = 0;
  bool specific = false;
  for (const std::string& name : architectures) {
    if (name == "native" || name == "all" || name == "all-major") {
      best = kHighest;
      continue;
    }
    size_t digits = name.find_first_of("0123456789");
    if (digits == std::string::npos) continue;
    int number = std::atoi(name.c_str() + digits);
    if (number >= best) {
      specific = name.back() == 'a' && number == kHighest;
      best = number;
    }
  }
  if (best == 0) best = kDefault;
  best = std::clamp(best, kLowest, kHighest);
  // clang's list has gaps: round down to a name that it has.
  static const int kKnown[] = {90, 89, 87, 86, 80, 75, 72, 70, 62, 61, 60, 53, 52, 50};
  for (int known : kKnown)
    if (known <= best) return "sm_" + std::to_string(known) + (specific && known == kHighest ? "a" : "");
  return "sm_75";
}

std::string language_of(const Input& input) {
  if (!input.is_file) return "link";
  if (!input.language.empty()) return input.language;
  size_t slash = input.word.rfind('/');
  size_t dot = input.word.rfind('.');
  std::string suffix =
      dot == std::string::npos || (slash != std::string::npos && dot < slash) ? "" : input.word.substr(dot);
  if (suffix == ".cu") return "cu";
  if (suffix == ".c") return "c";
  if (suffix == ".cc" || suffix == ".cpp" || suffix == ".cxx" || suffix == ".C" || suffix == ".c++") return "c++";
  if (suffix == ".ptx") return "ptx";
  return "link";
}

}  // namespace heddle::tools

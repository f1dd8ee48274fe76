// What clang's CUDA toolchain calls as ptxas, fatbinary and nvlink from <cuda-path>/bin.
//
// In NVIDIA's toolchain these make and link machine code of a GPU. Here the final compiler is the driver that loads
// the program (ours for a CPU, NVIDIA's for a GPU), so PTX passes through: ptxas hands the text on, fatbinary packs
// it, nvlink takes the one text that a device link made. With clang these are also what a bare
// `clang++ --cuda-path=<our tree>` and build systems need. Tested by cxx_test.cc and examples/.
#include <elf.h>

#include <cctype>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "commands.h"
#include "fatbin/pack.h"
#include "subprocess.h"

namespace heddle::tools {
namespace {

int fail(const char* tool, const std::string& message) {
  std::fprintf(stderr, "heddle %s: error: %s\n", tool, message.c_str());
  return 1;
}

// clang's nvlink wrapper takes ELF files only: a relocatable PTX text travels behind a bare ELF header.
std::string elf_header() {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = 190;  // EM_CUDA
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  return std::string(reinterpret_cast<const char*>(&header), sizeof header);
}

std::string without_elf_header(const std::string& content) {
  return content.compare(0, SELFMAG, ELFMAG) == 0 && content.size() > sizeof(Elf64_Ehdr)
             ? content.substr(sizeof(Elf64_Ehdr))
             : content;
}

// .maxnreg behind every kernel's parameter list that has none: what -maxrregcount means in PTX.
std::string with_register_limit(const std::string& ptx, const std::string& limit) {
  std::string out;
  bool in_entry = false;
  for (size_t at = 0; at < ptx.size();) {
    size_t end = ptx.find('\n', at);
    end = end == std::string::npos ? ptx.size() : end + 1;
    std::string line = ptx.substr(at, end - at);
    at = end;
    if (line.find(".entry") != std::string::npos) in_entry = true;
    if (in_entry && line.find(".maxnreg") != std::string::npos) in_entry = false;
    if (in_entry && line[0] == '{') {
      out += ".maxnreg " + limit + "\n";
      in_entry = false;
    }
    out += line;
  }
  return out;
}

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.';
}

std::string with_name_replaced(const std::string& ptx, const std::string& from, const std::string& to) {
  std::string out;
  for (size_t at = 0;;) {
    size_t hit = ptx.find(from, at);
    if (hit == std::string::npos) return out + ptx.substr(at);
    size_t end = hit + from.size();
    bool whole = (hit == 0 || !is_name_character(ptx[hit - 1])) && (end >= ptx.size() || !is_name_character(ptx[end]));
    out += ptx.substr(at, hit - at) + (whole ? to : from);
    at = end;
  }
}

// clang 19 gives a static device variable of relocatable code its final name, X__static__<hash>, only when the host
// code mentions it; a kernel that came earlier in the file was then left with an undefined X. Binds the two.
// False, with the name, where two files have such a variable of one name: their uses can't be told apart any more.
bool bind_static_variables(std::string& ptx, std::string* ambiguous) {
  for (size_t at = 0; (at = ptx.find("\n.extern .", at)) != std::string::npos;) {
    size_t end = ptx.find(';', at);
    if (end == std::string::npos) break;
    std::string declaration = ptx.substr(at, end + 1 - at);
    size_t first = declaration.find_last_of(" \t");
    std::string name = declaration.substr(first + 1, declaration.find_first_of("[;", first) - first - 1);
    at += 1;
    if (name.empty() || declaration.find(".func") != std::string::npos) continue;
    size_t definition = ptx.find(" " + name + "__static__");
    if (definition == std::string::npos) continue;
    size_t stop = definition + 1;
    while (stop < ptx.size() && is_name_character(ptx[stop])) stop++;
    std::string full = ptx.substr(definition + 1, stop - definition - 1);
    for (size_t other = definition; (other = ptx.find(" " + name + "__static__", other)) != std::string::npos;
         other++) {
      if (ptx.compare(other + 1, full.size(), full) != 0) {
        *ambiguous = name;
        return false;
      }
    }
    ptx.erase(at, end + 1 - at);
    ptx = with_name_replaced(ptx, name, full);
  }
  return true;
}

// Options of these tools come as "--name value", "--name=value" or "-x value".
bool take_value(const std::vector<std::string>& words, size_t& i, const char* name, std::string* value) {
  size_t length = std::strlen(name);
  if (words[i].compare(0, length, name) != 0) return false;
  if (words[i].size() > length && words[i][length] == '=') {
    *value = words[i].substr(length + 1);
    return true;
  }
  if (words[i].size() != length || i + 1 >= words.size()) return false;
  *value = words[++i];
  return true;
}

int print_version(const char* what) {
  std::printf("heddle %s %s: hands PTX on; no machine code of a GPU is made\n", what, HEDDLE_VERSION);
  return 0;
}

}  // namespace

int ptxas_main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  std::string input, output = "elf.o", registers, ignored;
  bool relocatable = false;
  for (size_t i = 0; i < words.size(); i++) {
    if (take_value(words, i, "--output-file", &output) || take_value(words, i, "-o", &output) ||
        take_value(words, i, "-maxrregcount", &registers) || take_value(words, i, "--maxrregcount", &registers) ||
        take_value(words, i, "--gpu-name", &ignored) || take_value(words, i, "-arch", &ignored))
      continue;
    if (words[i] == "--version" || words[i] == "-V") return print_version("ptxas");
    if (words[i] == "-c" || words[i] == "--compile-only") relocatable = true;
    if (words[i][0] != '-') input = words[i];
  }
  std::string text;
  if (input.empty() || !read_file(input, &text)) return fail("ptxas", "can't read the PTX file '" + input + "'");
  if (!registers.empty() && registers != "0") text = with_register_limit(text, registers);
  std::string ambiguous;
  if (!bind_static_variables(text, &ambiguous))
    return fail("ptxas", "two source files have a static device variable called '" + ambiguous +
                             "', and clang 19 mixes them up under -rdc=true; rename one of them");
  if (relocatable) text = elf_header() + text;
  if (!write_file(output, text)) return fail("ptxas", "can't write '" + output + "'");
  return 0;
}

int fatbinary_main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  std::string output, image;
  std::vector<std::string> texts;
  for (size_t i = 0; i < words.size(); i++) {
    if (words[i] == "--version" || words[i] == "-V") return print_version("fatbinary");
    if (take_value(words, i, "--create", &output)) continue;
    // --image=profile=sm_90,file=A or --image3=kind=elf,sm=90,file=A
    if (!take_value(words, i, "--image", &image) && !take_value(words, i, "--image3", &image)) continue;
    size_t at = ("," + image).find(",file=");
    std::string path = at == std::string::npos ? "" : image.substr(at + 5, image.find(',', at) - at - 5);
    std::string content;
    if (path.empty() || !read_file(path, &content)) return fail("fatbinary", "can't read the image '" + path + "'");
    content = without_elf_header(content);
    while (!content.empty() && content.back() == '\0') content.pop_back();
    // clang names the same text twice, as a cubin and as PTX.
    bool known = false;
    for (const std::string& text : texts) known = known || text == content;
    if (!known && !content.empty()) texts.push_back(content);
  }
  if (output.empty()) return fail("fatbinary", "--create FILE is missing");
  std::vector<fatbin::PackEntry> entries;
  for (const std::string& text : texts) {
    if (fatbin::detect(std::as_bytes(std::span(text.data(), text.size()))) != fatbin::Format::kPtx)
      return fail("fatbinary", "an image is not PTX text: only PTX is packed here");
    entries.push_back({.content = text});
  }
  Result<std::string> packed = fatbin::pack(entries);
  if (!packed) return fail("fatbinary", packed.error().why());
  if (!write_file(output, packed.value())) return fail("fatbinary", "can't write '" + output + "'");
  return 0;
}

int nvlink_main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  std::string output = "a.out", ignored, linked;
  int texts = 0;
  for (size_t i = 0; i < words.size(); i++) {
    if (words[i] == "--version" || words[i] == "-V") return print_version("nvlink");
    if (take_value(words, i, "-o", &output) || take_value(words, i, "-arch", &ignored) ||
        take_value(words, i, "-L", &ignored))
      continue;
    if (words[i][0] == '-') continue;
    std::string content;
    if (!read_file(words[i], &content)) return fail("nvlink", "can't read '" + words[i] + "'");
    content = without_elf_header(content);
    if (fatbin::detect(std::as_bytes(std::span(content.data(), content.size()))) != fatbin::Format::kPtx) continue;
    linked += content;
    texts++;
  }
  if (texts > 1)
    return fail("nvlink", std::to_string(texts) +
                              " PTX texts to link. Units are joined before they become PTX: compile with "
                              "-rdc=true through `heddle c++`, or give clang -foffload-lto");
  if (!write_file(output, linked)) return fail("nvlink", "can't write '" + output + "'");
  return 0;
}

int device_link_linker_main(int argc, char** argv) {
  // clang-linker-wrapper calls its linker with the objects it was given and one of its own that holds the linked
  // device code and its registration: that one is all that a device link has to produce.
  std::vector<std::string> words(argv + 1, argv + argc);
  std::string output = "a.out", image;
  for (size_t i = 0; i < words.size(); i++) {
    if (take_value(words, i, "-o", &output)) continue;
    if (words[i].find(".image.wrapper-") != std::string::npos) image = words[i];
  }
  if (image.empty()) return fail("-dlink", "no input holds relocatable device code; compile with -dc or -rdc=true");
  std::string content;
  if (!read_file(image, &content) || !write_file(output, content))
    return fail("-dlink", "can't copy '" + image + "' to '" + output + "'");
  return 0;
}

}  // namespace heddle::tools

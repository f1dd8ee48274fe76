// Child processes, temporary folders and our own tree's place: see subprocess.h. Tested by cxx_test.cc.
#include "subprocess.h"

#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/options.h"

extern char** environ;

namespace heddle::tools {

const Tree& tree() {
  static const Tree found = [] {
    std::error_code error;
    std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    std::string root = program.parent_path().parent_path().string();
    return Tree{root, root + "/bin", root + "/include", root + "/lib"};
  }();
  return found;
}

bool file_exists(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0;
}

bool read_file(const std::string& path, std::string* content) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return false;
  content->assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  return !in.bad();
}

bool write_file(const std::string& path, const std::string& content) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  return out.good();
}

std::string find_in_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return file_exists(name) ? name : "";
  const char* path = options().path.c_str();
  while (*path) {
    const char* end = std::strchr(path, ':');
    std::string folder = end ? std::string(path, end) : std::string(path);
    std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    if (!end) break;
    path = end + 1;
  }
  return "";
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (options().tmpdir.empty() ? std::string("/tmp") : options().tmpdir) + "/heddle-XXXXXX";
  path_ = mkdtemp(pattern.data()) ? pattern : "";
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!keep_ && !path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    bool plain = !word.empty() && word.find_first_not_of(
                                      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                      "-_=+./,:@%") == std::string::npos;
    if (plain) {
      line += word;
      continue;
    }
    line += '\'';
    for (char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

int run_command(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  int error = posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ);
  if (error) {
    std::fprintf(stderr, "heddle: can't start %s: %s\n", argv[0], std::strerror(error));
    return 127;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 127;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string first_line_of(const std::vector<std::string>& words) {
  std::FILE* pipe = popen((shell_line(words) + " 2>/dev/null").c_str(), "r");
  if (!pipe) return "";
  std::string line;
  for (int c; (c = std::fgetc(pipe)) != EOF && c != '\n';) line += static_cast<char>(c);
  while (std::fgetc(pipe) != EOF) {
  }
  return pclose(pipe) == 0 ? line : "";
}

}  // namespace heddle::tools

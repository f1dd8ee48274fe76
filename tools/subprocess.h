// Child processes of the tools, temporary files, and where our own tree is. Tested by cxx_test.cc.
#pragma once

#include <string>
#include <vector>

namespace heddle::tools {

/// The relocatable tree this program lies in: .../bin/heddle is in `root`/bin, whatever links led there.
struct Tree {
  std::string root, bin, include, lib;
};
const Tree& tree();

/// The path of `name` in the directories of PATH, or "".
std::string find_in_path(const std::string& name);

bool file_exists(const std::string& path);
/// A file's bytes; false where it can't be read. Errors are the caller's to name.
bool read_file(const std::string& path, std::string* content);
bool write_file(const std::string& path, const std::string& content);

/// A folder that is removed with everything in it at the end; `keep()` leaves it there.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }
  void keep() { keep_ = true; }

 private:
  std::string path_;
  bool keep_ = false;
};

/// `words` as a line that a shell reads back to the same words.
std::string shell_line(const std::vector<std::string>& words);

/// Runs a command and waits. Returns its exit status, 128 + signal as shells do, or 127 with a message where it
/// could not be started.
int run_command(const std::vector<std::string>& words);

/// The first line that a command prints, "" where it fails.
std::string first_line_of(const std::vector<std::string>& words);

}  // namespace heddle::tools

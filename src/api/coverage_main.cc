// heddle_coverage FOLDER: writes FOLDER/driver.md and FOLDER/runtime.md from the API tables. With --check it only
// compares, and fails if a page is not what the tables say (the ctest "coverage_pages").
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "api/coverage.h"

namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  return static_cast<bool>(file.flush());
}

}  // namespace

int main(int count, char** arguments) {
  const bool check = count == 3 && std::strcmp(arguments[1], "--check") == 0;
  if (count != 2 && !check) {
    std::fprintf(stderr, "usage: %s [--check] FOLDER\n", arguments[0]);
    return 2;
  }
  const std::string folder = arguments[count - 1];
  const std::pair<std::string, std::string> pages[] = {
      {folder + "/driver.md", heddle::api::print_driver_coverage()},
      {folder + "/runtime.md", heddle::api::print_runtime_coverage()},
  };
  int failures = 0;
  for (const auto& [path, text] : pages) {
    if (check ? read_file(path) == text : write_file(path, text)) continue;
    std::fprintf(
        stderr, check ? "%s is not what the tables say: run heddle_coverage docs/coverage\n" : "%s cannot be written\n",
        path.c_str());
    ++failures;
  }
  return failures == 0 ? 0 : 1;
}

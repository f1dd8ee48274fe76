// What can be known about a program before it runs on our libraries: read from its file and from the loader's own list
// of libraries, without running any of its code. Used by `heddle run`. Tested by preflight_test.cc.
#pragma once

#include <string>
#include <vector>

namespace heddle::tools {

enum class Severity { kNote, kWarning, kError };

/// One thing found. An error means: started now, the program would fail or not use our libraries.
struct Finding {
  Severity severity;
  std::string problem;  // what, with the name of the file or library
  std::string advice;   // what to do about it; may be empty
};

/// Looks at the file's contents and its permission to be executed: not a program, another processor, a static or
/// set-user-ID program, NVIDIA's static runtime inside, device code without PTX for `capability` (120 for 12.0).
std::vector<Finding> check_program(const std::string& path, unsigned capability);

/// Asks the dynamic loader which libraries it would take for `path` if `library_path` were LD_LIBRARY_PATH: missing
/// ones, CUDA libraries that don't come from `our_lib`, math libraries that bring a runtime of NVIDIA's.
std::vector<Finding> check_libraries(const std::string& path, const std::string& library_path,
                                     const std::string& our_lib);

}  // namespace heddle::tools

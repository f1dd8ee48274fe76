// CUDA C++ as nvcc takes it, where clang doesn't: rewritten before clang reads it. Tested by cxx_source_test.cc.
#pragma once

#include <string>
#include <vector>

namespace heddle::tools {

/// The text with these spellings replaced, each within its line, so that positions in messages stay right:
///  - `%laneid` in the text of an inline assembly with operands, where GNU's rules, which clang follows, want
///  `%%laneid`;
///  - `k<< <g, b>> >(...)`, which some formatters make of a launch;
///  - `__shared__ alignas(n) T x`, an attribute in a place where the standard has none.
/// Everything else, and comments, strings and raw strings in particular, stays as it is.
std::string rewrite_for_clang(const std::string& text);

struct RewrittenFile {
  std::string path;  ///< absolute, as the compiler will open it
  std::string text;
};

/// The source and the headers that it includes from its own folder or from `include_folders`, directly or through each
/// other, as far as they need rewriting. Headers of system folders are left alone.
std::vector<RewrittenFile> find_rewrites(const std::string& source, const std::vector<std::string>& include_folders);

/// A virtual file system for clang's -ivfsoverlay, in which each file's text is that of `copies[i]`, a path.
std::string make_overlay(const std::vector<RewrittenFile>& files, const std::vector<std::string>& copies);

}  // namespace heddle::tools

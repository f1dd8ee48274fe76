// Rewriting of nvcc's spellings for clang: see cxx_source.h. Tested by cxx_source_test.cc.
#include "cxx_source.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <string_view>

#include "subprocess.h"

namespace heddle::tools {
namespace {

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool continues_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// A reader of C++ tokens that knows as much as is needed to not look into comments and strings.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}
  bool at_end(size_t at) const { return at >= text_.size(); }
  char peek(size_t at) const { return at < text_.size() ? text_[at] : '\0'; }

  size_t skip_blanks(size_t at) const {
    for (;;) {
      while (!at_end(at) && std::isspace(static_cast<unsigned char>(text_[at]))) at++;
      size_t next = skip_comment(at);
      if (next == at) return at;
      at = next;
    }
  }
  size_t skip_comment(size_t at) const {
    if (peek(at) != '/') return at;
    if (peek(at + 1) == '/') return std::min(text_.find('\n', at), text_.size());
    if (peek(at + 1) != '*') return at;
    size_t end = text_.find("*/", at + 2);
    return end == std::string_view::npos ? text_.size() : end + 2;
  }
  size_t skip_name(size_t at) const {
    while (!at_end(at) && continues_name(text_[at])) at++;
    return at;
  }
  // Past a string or character literal that begins at `at` with its quote.
  size_t skip_literal(size_t at) const {
    char quote = text_[at++];
    while (!at_end(at) && text_[at] != quote && text_[at] != '\n') at += text_[at] == '\\' ? 2 : 1;
    return std::min(at + 1, text_.size());
  }
  // Past R"tag( ... )tag", `at` on the quote.
  size_t skip_raw_string(size_t at) const {
    size_t open = text_.find('(', at);
    if (open == std::string_view::npos) return text_.size();
    std::string close = ")" + std::string(text_.substr(at + 1, open - at - 1)) + "\"";
    size_t end = text_.find(close, open);
    return end == std::string_view::npos ? text_.size() : end + close.size();
  }
  std::string_view name_at(size_t at) const { return text_.substr(at, skip_name(at) - at); }
  std::string_view slice(size_t from, size_t to) const { return text_.substr(from, to - from); }

 private:
  std::string_view text_;
};

// "%laneid" -> "%%laneid" in one string literal; %0, %[name] and %% stay.
std::string with_percents_doubled(std::string_view literal) {
  std::string out;
  for (size_t i = 0; i < literal.size(); i++) {
    out += literal[i];
    if (literal[i] != '%' || i + 1 >= literal.size()) continue;
    if (literal[i + 1] == '%')
      out += literal[++i];
    else if (starts_name(literal[i + 1]))
      out += '%';
  }
  return out;
}

// The template of an asm statement with operands, `at` behind the opening parenthesis. Returns where it stopped.
size_t rewrite_asm(const Scanner& scan, size_t at, std::string& out) {
  std::string doubled;
  size_t begin = at;
  for (int depth = 1; !scan.at_end(at);) {
    char c = scan.peek(at);
    if (c == '"') {
      size_t end = scan.skip_literal(at);
      doubled += with_percents_doubled(scan.slice(at, end));
      at = end;
      continue;
    }
    if (size_t end = scan.skip_comment(at); end != at) {
      doubled += scan.slice(at, end);
      at = end;
      continue;
    }
    if (c == '(') depth++;
    if (c == ')' && --depth == 0) break;  // no operands: % means nothing special
    if (c == ':' && depth == 1) {
      out += doubled;
      return at;
    }
    doubled += c;
    at++;
  }
  out += scan.slice(begin, at);
  return at;
}

// The ">> >" that closes a launch opened before `at`, or npos; a ';' or '{' ends the search.
size_t find_split_close(const Scanner& scan, size_t at) {
  for (int depth = 0; !scan.at_end(at); at++) {
    char c = scan.peek(at);
    if (c == ';' || c == '{') break;
    if (c == '"' || c == '\'') at = scan.skip_literal(at) - 1;
    if (c == '(') depth++;
    if (c == ')') depth--;
    if (depth < 0) break;
    if (depth || c != '>' || scan.peek(at + 1) != '>') continue;
    if (scan.peek(at + 2) == '>') break;
    size_t last = scan.skip_blanks(at + 2);
    if (scan.peek(last) == '>' && scan.peek(scan.skip_blanks(last + 1)) == '(') return at;
  }
  return std::string::npos;
}

}  // namespace

std::string rewrite_for_clang(const std::string& text) {
  Scanner scan(text);
  std::string out;
  out.reserve(text.size() + 64);
  std::set<size_t> split_closes;  // where ">> >" is to be joined
  for (size_t at = 0; at < text.size();) {
    char c = text[at];
    size_t end = scan.skip_comment(at);
    if (end == at && c == '"') end = scan.skip_literal(at);
    // A quote inside of a number (1'000) is no character literal.
    if (end == at && c == '\'' && !(at && continues_name(text[at - 1]))) end = scan.skip_literal(at);
    if (end != at) {
      out += scan.slice(at, end);
      at = end;
      continue;
    }
    if (starts_name(c)) {
      std::string_view name = scan.name_at(at);
      size_t after = at + name.size();
      if (!name.empty() && name.back() == 'R' && name.size() <= 3 && scan.peek(after) == '"') {
        end = scan.skip_raw_string(after);
      } else if (name == "asm" || name == "__asm__" || name == "__asm") {
        end = scan.skip_blanks(after);
        while (starts_name(scan.peek(end))) end = scan.skip_blanks(scan.skip_name(end));  // volatile
        if (scan.peek(end) == '(') {
          out += scan.slice(at, end + 1);
          at = rewrite_asm(scan, end + 1, out);
          continue;
        }
        end = after;
      } else if (name == "__shared__") {
        size_t next = scan.skip_blanks(after);
        end = after;
        if (scan.name_at(next) == "alignas" && scan.peek(scan.skip_blanks(next + 7)) == '(') {
          out += scan.slice(at, next);
          out += "__align__";
          at = next + 7;
          continue;
        }
      } else {
        end = after;
      }
      out += scan.slice(at, end);
      at = end;
      continue;
    }
    if (c == '<' && scan.peek(at + 1) == '<') {
      bool joined = scan.peek(at + 2) == '<';
      size_t third = joined ? at + 2 : scan.skip_blanks(at + 2);
      if (scan.peek(third) == '<') {
        size_t close = find_split_close(scan, third + 1);
        if (close != std::string::npos) split_closes.insert(close);
        if (joined || close != std::string::npos) {
          out += "<<<";
          out += scan.slice(at + 2, third);
          at = third + 1;
          continue;
        }
      }
    }
    if (c == '>' && split_closes.count(at)) {
      size_t third = scan.skip_blanks(at + 2);
      out += ">>>";
      out += scan.slice(at + 2, third);
      at = third + 1;
      continue;
    }
    out += c;
    at++;
  }
  return out;
}

std::vector<RewrittenFile> find_rewrites(const std::string& source, const std::vector<std::string>& include_folders) {
  namespace fs = std::filesystem;
  constexpr size_t kMostFiles = 500, kLargest = 4 << 20;
  std::vector<RewrittenFile> rewrites;
  std::vector<std::string> waiting = {fs::absolute(source).lexically_normal().string()};
  std::set<std::string> seen(waiting.begin(), waiting.end());
  while (!waiting.empty() && seen.size() < kMostFiles) {
    std::string path = waiting.back(), text;
    waiting.pop_back();
    std::error_code error;
    if (fs::file_size(path, error) > kLargest || error || !read_file(path, &text)) continue;
    std::string rewritten = rewrite_for_clang(text);
    if (rewritten != text) rewrites.push_back({path, rewritten});

    for (size_t at = 0; (at = text.find("#", at)) != std::string::npos; at++) {
      size_t word = text.find_first_not_of(" \t", at + 1);
      if (word == std::string::npos || text.compare(word, 7, "include") != 0) continue;
      size_t open = text.find_first_not_of(" \t", word + 7);
      if (open == std::string::npos || (text[open] != '"' && text[open] != '<')) continue;
      size_t close = text.find(text[open] == '"' ? '"' : '>', open + 1);
      if (close == std::string::npos || close - open > 500) continue;
      std::string name = text.substr(open + 1, close - open - 1);
      std::vector<std::string> folders = include_folders;
      if (text[open] == '"') folders.insert(folders.begin(), fs::path(path).parent_path().string());
      for (const std::string& folder : folders) {
        std::string candidate = fs::absolute(fs::path(folder) / name).lexically_normal().string();
        if (!fs::is_regular_file(candidate, error)) continue;
        if (seen.insert(candidate).second) waiting.push_back(candidate);
        break;
      }
    }
  }
  return rewrites;
}

std::string make_overlay(const std::vector<RewrittenFile>& files, const std::vector<std::string>& copies) {
  auto quoted = [](const std::string& text) {
    std::string out = "\"";
    for (char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    return out + '"';
  };
  std::string out = "{\"version\": 0, \"use-external-names\": false, \"roots\": [\n";
  for (size_t i = 0; i < files.size(); i++) {
    if (i) out += ",\n";
    out += "{\"type\": \"file\", \"name\": " + quoted(files[i].path) + ", \"external-contents\": " + quoted(copies[i]) +
           "}";
  }
  return out + "\n]}\n";
}

}  // namespace heddle::tools

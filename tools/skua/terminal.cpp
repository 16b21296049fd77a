// tools/skua/terminal.cpp: what standard output is, and a line on it that changes.
#include "terminal.hpp"

#include "failure.hpp"
#include "text.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace skua_tool {
namespace {

std::string_view from_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

// As setlocale() would choose, but without it.
bool locale_is_utf8() {
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = from_environment(name);
    if (value.empty()) continue;
    for (const std::string_view suffix : {"UTF-8", "utf-8", "UTF8", "utf8"})
      if (value.find(suffix) != std::string_view::npos) return true;
    return false;
  }
  return false;
}

}  // namespace

terminal terminal::of_stdout() {
  terminal seen;
  seen.interactive = ::isatty(STDOUT_FILENO) == 1 && from_environment("TERM") != "dumb";
  seen.unicode = seen.interactive && locale_is_utf8();
  seen.colour = seen.interactive && from_environment("NO_COLOR").empty();
  return seen;
}

void progress_line::show(std::string_view text) {
  if (!shown_) return;
  std::string line(text.substr(0, columns - 1));
  line.resize(columns - 1, ' ');
  print("\r" + line);
  dirty_ = true;
}

void progress_line::clear() {
  if (!dirty_) return;
  const std::string blank = "\r" + std::string(columns - 1, ' ') + "\r";
  std::fwrite(blank.data(), 1, blank.size(), stdout);
  std::fflush(stdout);
  dirty_ = false;
}

void print(std::string_view text) {
  const bool taken = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (std::fflush(stdout) != 0 || !taken) throw failure("cannot write to standard output");
}

}  // namespace skua_tool

// tools/skua/terminal.hpp: what standard output is, and a line on it that changes.
#pragma once

#include <string>
#include <string_view>

namespace skua_tool {

/// What may be printed there.
struct terminal {
  bool interactive = false;  // somebody looks at it: lines may be written over
  bool unicode = false;      // and shows more than ASCII
  bool colour = false;       // and no NO_COLOR in the environment

  [[nodiscard]] static terminal of_stdout();
};

/// The last line of a terminal, which says how far things are. Elsewhere, nothing. Gone with its
/// object.
class progress_line {
public:
  explicit progress_line(bool shown) noexcept : shown_(shown) {}
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line() { clear(); }

  [[nodiscard]] bool shown() const noexcept { return shown_; }
  /// In place of what was there. What does not fit is cut.
  void show(std::string_view text);
  void clear();

private:
  bool shown_;
  bool dirty_ = false;
};

/// Writes to standard output, and at once. Throws a failure if nobody takes it.
void print(std::string_view text);

}  // namespace skua_tool

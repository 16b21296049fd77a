// tools/skua/text.hpp: numbers and tables as people read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skua_tool {

/// Lines that the tool prints are no longer than this.
inline constexpr std::size_t columns = 80;

/// `12,345,678`.
[[nodiscard]] std::string with_commas(std::uint64_t number);
/// A whole number if it is large, and `0.25` if it is not.
[[nodiscard]] std::string short_number(double number);
/// `850 ns`, `12.3 us`, `4.56 ms`, `1.20 s`: three digits that count.
[[nodiscard]] std::string time_text(double nanoseconds);
/// `64 B`, `12.5 KiB`, `3.00 GiB`.
[[nodiscard]] std::string size_text(double bytes);

/// A sentence, broken between words into lines that fit; each but the first begins with `indent`
/// spaces. `used` columns of the first line are taken.
[[nodiscard]] std::string wrapped(std::string_view sentence, std::size_t used, std::size_t indent);

/// Rows of cells. Columns are as wide as their widest cell, and two spaces apart.
class table {
public:
  enum class side : unsigned char { left, right };

  /// How the cells of each column are aligned.
  explicit table(std::vector<side> sides) : sides_(std::move(sides)) {}

  /// As many cells as there are columns.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  /// All rows, each indented by two spaces and ended by a newline.
  [[nodiscard]] std::string text() const;

private:
  [[nodiscard]] std::vector<std::size_t> widths() const;

  std::vector<side> sides_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace skua_tool

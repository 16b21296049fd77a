// tools/skua/picture.cpp: a histogram drawn with characters.
#include "picture.hpp"

#include "text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace skua_tool {
namespace {

constexpr std::size_t rows_most = 24;
constexpr std::size_t bar_width = 42;

struct picture_row {
  std::int64_t below = 0;  // nanoseconds
  std::uint64_t count = 0;
};

/// Neighbours together, so many that few enough rows are left.
std::vector<picture_row> rows_of(const latency_counts& counts) {
  std::size_t first = 0;
  std::size_t last = latency_buckets::over;
  while (first < last && counts.in_bucket[first] == 0) ++first;
  while (last > first && counts.in_bucket[last] == 0) --last;
  const std::size_t together = 1 + (last - first) / rows_most;
  std::vector<picture_row> rows;
  for (std::size_t i = first; i <= last; ++i) {
    if ((i - first) % together == 0) rows.emplace_back();
    rows.back().below = latency_buckets::upper_bound(i);
    rows.back().count += counts.in_bucket[i];
  }
  return rows;
}

/// `share` of the width, to the eighth of a column where the terminal can show it.
std::string bar_of(double share, const terminal& where) {
  static constexpr std::array<std::string_view, 8> parts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<std::size_t>(std::max(1L, std::lround(share * bar_width * 8)));
  if (!where.unicode) return std::string((eighths + 7) / 8, '#');
  std::string bar;
  for (std::size_t i = 0; i < eighths / 8; ++i) bar += "█";
  return bar.append(parts[eighths % 8]);
}

std::string right(std::string text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

}  // namespace

std::string picture_of(const latency_counts& counts, const terminal& where) {
  if (counts.count() == 0) return {};
  const std::vector<picture_row> rows = rows_of(counts);
  std::uint64_t most = 0;
  for (const picture_row& row : rows) most = std::max(most, row.count);
  std::string all = "  " + right("up to", 8) + " " + right("answers", 13) + "\n";
  for (const picture_row& row : rows) {
    const auto up_to = static_cast<double>(std::min(row.below, counts.largest));
    all += "  " + right(time_text(up_to), 8) + " " + right(with_commas(row.count), 13);
    if (row.count > 0) {
      const std::string bar =
          bar_of(static_cast<double>(row.count) / static_cast<double>(most), where);
      all += where.colour ? "  \x1b[36m" + bar + "\x1b[0m" : "  " + bar;
    }
    all += "\n";
  }
  return all;
}

}  // namespace skua_tool

// tools/skua/text.cpp: numbers and tables as people read them.
#include "text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <span>

namespace skua_tool {
namespace {

struct unit {
  double size;
  const char* name;
};

std::string three_digits(double number) {
  std::array<char, 32> text{};
  const int decimals = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, number);
  return text.data();
}

/// In the largest unit of which there is one; the first is for whole numbers.
std::string in_units(double number, std::span<const unit> units) {
  const unit* best = units.data();
  for (const unit& one : units)
    if (number >= one.size) best = &one;
  const double count = number / best->size;
  const bool whole = best == units.data() && count == static_cast<double>(static_cast<int>(count));
  return (whole ? std::to_string(static_cast<int>(count)) : three_digits(count)) + " " + best->name;
}

}  // namespace

std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t from_end = 3; from_end < text.size(); from_end += 4)
    text.insert(text.size() - from_end, 1, ',');
  return text;
}

std::string short_number(double number) {
  if (number >= 100) return with_commas(static_cast<std::uint64_t>(std::llround(number)));
  return three_digits(number);
}

std::string time_text(double nanoseconds) {
  static constexpr std::array units{unit{1, "ns"}, unit{1e3, "us"}, unit{1e6, "ms"},
                                    unit{1e9, "s"}};
  return in_units(nanoseconds, units);
}

std::string size_text(double bytes) {
  static constexpr std::array units{unit{1, "B"}, unit{1024, "KiB"}, unit{1024.0 * 1024, "MiB"},
                                    unit{1024.0 * 1024 * 1024, "GiB"}};
  return in_units(bytes, units);
}

std::string wrapped(std::string_view sentence, std::size_t used, std::size_t indent) {
  std::string text;
  std::size_t at = used;
  while (!sentence.empty()) {
    const std::size_t end = std::min(sentence.find(' '), sentence.size());
    const std::string_view word = sentence.substr(0, end);
    sentence.remove_prefix(std::min(end + 1, sentence.size()));
    const bool first = text.empty();
    if (!first && at + 1 + word.size() > columns) {
      text += '\n' + std::string(indent, ' ');
      at = indent;
    } else if (!first) {
      text += ' ';
      ++at;
    }
    text += word;
    at += word.size();
  }
  return text;
}

std::vector<std::size_t> table::widths() const {
  std::vector<std::size_t> widest(sides_.size(), 0);
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widest[i] = std::max(widest[i], row[i].size());
  return widest;
}

std::string table::text() const {
  const std::vector<std::size_t> widest = widths();
  std::string all;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widest[i] - row[i].size(), ' ');
      line += sides_[i] == side::left ? "  " + row[i] + padding : "  " + padding + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    all += line + "\n";
  }
  return all;
}

}  // namespace skua_tool

// examples/redis/resp.cpp: how a command is found.
#include "resp.hpp"

#include <algorithm>

namespace redis {
namespace {

constexpr std::size_t number_length_max = 20;

parsed more(std::size_t length) {
  return {parsed::kind::more, length, {}};
}
parsed error(std::string_view text) {
  return {parsed::kind::error, 0, text};
}
parsed command(std::size_t length) {
  return {parsed::kind::command, length, {}};
}

// A number and the end of its line, which begins at `at`.
class number_line {
public:
  enum class state : unsigned char { whole, partial, wrong };

  number_line(std::string_view bytes, std::size_t at) : next_(at) {
    const bool negative = next_ < bytes.size() && bytes[next_] == '-';
    if (negative) ++next_;
    const std::size_t first = next_;
    for (; next_ < bytes.size() && is_digit(bytes[next_]); ++next_) {
      if (next_ - first == number_length_max - 2) return;  // so it fits into its type, too
      value_ = value_ * 10 + (bytes[next_] - '0');
    }
    const std::string_view rest = bytes.substr(next_, 2);
    if (!std::string_view("\r\n").starts_with(rest)) return;
    state_ = rest.size() == 2 ? state::whole : state::partial;
    if (state_ == state::whole && next_ == first) state_ = state::wrong;
    next_ += rest.size();
    if (negative) value_ = -value_;
  }

  [[nodiscard]] state how() const { return state_; }
  [[nodiscard]] long long value() const { return value_; }
  [[nodiscard]] std::size_t next() const { return next_; }

private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  state state_ = state::wrong;
  long long value_ = 0;
  std::size_t next_;
};

// One line of text, for those who type by hand. There are no quotes.
parsed parse_line(std::string_view bytes, words& found, const limits& most) {
  const std::size_t end = bytes.substr(0, most.line).find('\n');
  if (end == std::string_view::npos) {
    if (bytes.size() >= most.line) return error("too big inline request");
    return more(bytes.size() + 1);
  }
  std::string_view line = bytes.substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  for (;;) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty()) return command(end + 1);
    if (found.size() == most.words) return error("too many words");
    found.push_back(line.substr(0, line.find_first_of(" \t")));
    line.remove_prefix(found.back().size());
  }
}

// "$3\r\nGET\r\n" at `at`, which goes behind it.
parsed parse_word(std::string_view bytes, std::size_t& at, words& found, const limits& most) {
  if (at == bytes.size()) return more(at + 1);
  if (bytes[at] != '$') return error("expected '$'");
  const number_line size(bytes, at + 1);
  if (size.how() == number_line::state::partial) return more(bytes.size() + 1);
  if (size.how() == number_line::state::wrong || size.value() < 0 ||
      size.value() > static_cast<long long>(most.word))
    return error("invalid bulk length");
  const auto length = static_cast<std::size_t>(size.value());
  const std::size_t end = size.next() + length;
  if (end + 2 > most.command) return error("command too big");
  if (bytes.size() < end + 2) return more(end + 2);
  if (bytes[end] != '\r' || bytes[end + 1] != '\n') return error("expected the end of a word");
  found.push_back(bytes.substr(size.next(), length));
  at = end + 2;
  return command(at);
}

}  // namespace

parsed parse(std::string_view bytes, words& found, const limits& most) {
  found.clear();
  if (bytes.empty()) return more(1);
  if (bytes[0] != '*') return parse_line(bytes, found, most);
  const number_line count(bytes, 1);
  if (count.how() == number_line::state::partial) return more(bytes.size() + 1);
  if (count.how() == number_line::state::wrong ||
      count.value() > static_cast<long long>(most.words))
    return error("invalid multibulk length");
  std::size_t at = count.next();
  for (long long left = count.value(); left > 0; --left) {
    const parsed word = parse_word(bytes, at, found, most);
    if (word.what != parsed::kind::command) return word;
  }
  return command(at);
}

}  // namespace redis

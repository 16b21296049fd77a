// src/base/log.cpp: hand a record over, or write it to standard error as one line.
#include "skua/base/log.hpp"

#include "skua/base/check.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstddef>
#include <type_traits>

namespace skua::inline SKUA_ABI {

namespace {

constexpr std::size_t line_max = 2048;
static_assert(line_max <= PIPE_BUF, "the kernel keeps a line whole, also on a pipe");

/// Bytes of the character at the front of `text`, or 0 if its first byte has to be escaped: it is a
/// control character, a line separator, a backslash, or no well-formed UTF-8.
std::size_t printable_length(std::string_view text) noexcept {
  const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f && lead != '\\' ? 1 : 0;

  if (lead < 0xc2 || lead > 0xf4) return 0;
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() < length) return 0;
  unsigned point = lead & (0x7fU >> length);
  for (std::size_t at = 1; at < length; ++at) {
    if ((byte(at) & 0xc0) != 0x80) return 0;
    point = point << 6 | (byte(at) & 0x3fU);
  }
  constexpr std::array<unsigned, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xd800 && point < 0xe000;
  if (point < least[length] || point > 0x10ffff || surrogate) return 0;

  const bool control = point < 0xa0;
  const bool separator = point == 0x2028 || point == 0x2029;
  return control || separator ? 0 : length;
}

/// True if `text` can be read back without quotes.
bool is_plain_word(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\';
  });
}

/// A line of bounded length. What does not fit any more is left out from there to the end.
class log_line {
public:
  /// Appends all of `bytes` or nothing, so that no escape and no character is cut in two.
  void append(std::string_view bytes) noexcept {
    if (truncated_ || bytes.size() > room - size_) {
      truncated_ = true;
      return;
    }
    put(bytes);
  }

  /// Appends text that may hold anything. Quotes are escaped only where they would end the text.
  void append_escaped(std::string_view text, bool quoted) noexcept {
    while (!text.empty() && !truncated_) {
      std::size_t length = printable_length(text);
      if (length == 0 || (quoted && text.front() == '"')) {
        append_escape(text.front());
        length = 1;
      } else {
        append(text.substr(0, length));
      }
      text.remove_prefix(length);
    }
  }

  /// Appends a name or a text value, in quotes unless it is a plain word.
  void append_word(std::string_view text) noexcept {
    if (is_plain_word(text)) {
      append_escaped(text, false);
      return;
    }
    append("\"");
    append_escaped(text, true);
    append("\"");
  }

  template <typename Number>
  void append_number(Number number) noexcept {
    std::array<char, 32> digits;  // the longest double takes 24
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    append({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }

  /// Ends the line and returns all of it.
  std::string_view finish() noexcept {
    if (truncated_) put(mark);
    put("\n");
    return {bytes_.data(), size_};
  }

private:
  static constexpr std::string_view mark = " [truncated]";
  static constexpr std::size_t room = line_max - mark.size() - 1;

  void put(std::string_view bytes) noexcept {
    std::ranges::copy(bytes, bytes_.data() + size_);
    size_ += bytes.size();
  }

  void append_escape(char c) noexcept {
    switch (c) {
      case '\n':
        return append("\\n");
      case '\r':
        return append("\\r");
      case '\t':
        return append("\\t");
      case '"':
        return append("\\\"");
      case '\\':
        return append("\\\\");
      default: {
        constexpr std::string_view digit = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(c);
        const std::array<char, 4> escape{'\\', 'x', digit[byte >> 4], digit[byte & 0xf]};
        return append({escape.data(), escape.size()});
      }
    }
  }

  std::array<char, line_max> bytes_;
  std::size_t size_ = 0;
  bool truncated_ = false;
};

/// One write, repeated only if a signal came before its first byte: a second write for the rest of
/// a line could let another line in between. Of any other failure nobody is left to be told.
void write_whole(std::string_view line) noexcept {
  const int callers_errno = errno;
  while (::write(STDERR_FILENO, line.data(), line.size()) < 0 && errno == EINTR) {
  }
  errno = callers_errno;
}

void write_to_standard_error(void*, const log_record& record) {
  log_line line;
  line.append("skua ");
  line.append(name_of(record.level));
  line.append(": ");
  line.append_escaped(record.message, false);
  for (const log_field& field : record.fields) {
    line.append(" ");
    line.append_word(field.name());
    line.append("=");
    field.visit([&line](auto value) {
      if constexpr (std::is_same_v<decltype(value), std::string_view>) {
        line.append_word(value);
      } else if constexpr (std::is_same_v<decltype(value), bool>) {
        line.append(value ? "true" : "false");
      } else {
        line.append_number(value);
      }
    });
  }
  write_whole(line.finish());
}

}  // namespace

std::string_view name_of(log_level level) noexcept {
  switch (level) {
    case log_level::trace:
      return "trace";
    case log_level::debug:
      return "debug";
    case log_level::info:
      return "info";
    case log_level::warn:
      return "warn";
    case log_level::error:
      return "error";
  }
  return "unknown";
}

logger::logger(log_level minimum) noexcept
    : write_(write_to_standard_error), state_(nullptr), minimum_(minimum) {}

logger::logger(write_function how, void* state, log_level minimum) noexcept
    : write_(how), state_(state), minimum_(minimum) {
  check(how != nullptr, "a logger has a function to write with; silent() makes one without");
}

logger logger::silent() noexcept {
  logger quiet;
  quiet.write_ = nullptr;
  return quiet;
}

void logger::hand_over(const log_record& record) const noexcept {
  try {
    write_(state_, record);
  } catch (...) {
    return;  // a log must never be the reason that the service fails
  }
}

}  // namespace skua::inline SKUA_ABI

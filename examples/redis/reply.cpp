// examples/redis/reply.cpp: how answers are written.
#include "reply.hpp"

#include <array>
#include <charconv>

namespace redis {
namespace {

constexpr std::size_t kept_capacity = std::size_t{64} << 10;

}  // namespace

void replies::simple(std::string_view text) {
  out_ += '+';
  out_ += text;
  out_ += "\r\n";
}

// A line break in it would be taken for the next answer.
void replies::error(std::string_view text) {
  out_ += '-';
  for (const char c : text.substr(0, 256)) out_ += c >= ' ' && c <= '~' ? c : '?';
  out_ += "\r\n";
}

void replies::number(std::int64_t value) {
  line(':', value);
}

void replies::bulk(std::string_view bytes) {
  line('$', static_cast<std::int64_t>(bytes.size()));
  out_ += bytes;
  out_ += "\r\n";
}

void replies::none() {
  out_ += "$-1\r\n";
}

void replies::array(std::size_t length) {
  line('*', static_cast<std::int64_t>(length));
}

void replies::clear() {
  out_.clear();
  if (out_.capacity() > kept_capacity) out_.shrink_to_fit();
}

void replies::line(char kind, std::int64_t value) {
  std::array<char, 24> text;
  text[0] = kind;
  char* end = std::to_chars(text.data() + 1, text.data() + text.size() - 2, value).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out_.append(text.data(), end);
}

}  // namespace redis

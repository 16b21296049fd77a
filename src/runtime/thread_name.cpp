// src/runtime/thread_name.cpp: fit prefix and index into what the kernel keeps.
#include "runtime/thread_name.hpp"

#include <pthread.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace skua::inline SKUA_ABI {
namespace {

constexpr std::size_t name_bytes = 15;  // and a zero

/// The longest beginning of `text` with at most `bytes` bytes that tears no character.
std::string_view beginning(std::string_view text, std::size_t bytes) noexcept {
  if (text.size() <= bytes) return text;
  const auto continues = [&](std::size_t at) { return (text[at] & 0xc0) == 0x80; };
  while (bytes > 0 && continues(bytes)) --bytes;
  return text.substr(0, bytes);
}

}  // namespace

void name_this_thread(std::string_view prefix, std::size_t index) noexcept {
  char number[std::numeric_limits<std::size_t>::digits10 + 1];
  std::string_view digits(number, std::to_chars(number, std::end(number), index).ptr);
  if (digits.size() > name_bytes) digits.remove_prefix(digits.size() - name_bytes);

  char name[name_bytes + 1] = {};
  char* end = name;
  if (const std::size_t room = name_bytes - digits.size(); room > 1) {
    prefix = beginning(prefix.substr(0, prefix.find('\0')), room - 1);
    end = std::ranges::copy(prefix, end).out;
    if (!prefix.empty()) *end++ = '-';
  }
  std::ranges::copy(digits, end);
  // Cannot fail: it is our own thread, and the name is short enough. If it did, nothing is lost.
  (void)::pthread_setname_np(::pthread_self(), name);
}

}  // namespace skua::inline SKUA_ABI

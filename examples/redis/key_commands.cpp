// examples/redis/key_commands.cpp: how keys are read and written.
#include "key_commands.hpp"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

namespace redis {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view no_number = "ERR value is not an integer or out of range";
constexpr std::int64_t longest_time = 1'000'000'000;  // s: 31 years; so nothing overflows

std::optional<std::int64_t> number(std::string_view word) {
  std::int64_t value = 0;
  const auto [end, why] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (why != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// What stands behind the value of a SET.
struct set_options {
  bool only_new = false;
  bool only_old = false;
  skua::instant end = skua::instant::never();
  std::string_view fault;

  explicit set_options(const call& what) {
    for (std::size_t i = 3; i < what.words.size() && fault.empty(); ++i) {
      const std::string_view word = what.words[i];
      if (is(word, "nx"))
        only_new = true;
      else if (is(word, "xx"))
        only_old = true;
      else if ((is(word, "ex") || is(word, "px")) && i + 1 < what.words.size())
        read_time(what.now, what.words[++i], is(word, "ex"));
      else
        fault = "ERR syntax error";
    }
    if (only_new && only_old) fault = "ERR syntax error";
  }

private:
  void read_time(skua::instant now, std::string_view word, bool in_seconds) {
    const auto count = number(word);
    if (end != skua::instant::never())
      fault = "ERR syntax error";
    else if (!count)
      fault = no_number;
    else if (*count <= 0 || *count > longest_time)
      fault = "ERR invalid expire time in 'set' command";
    else if (in_seconds)
      end = now + seconds(*count);
    else
      end = now + milliseconds(*count);
  }
};

}  // namespace

void get(call& what) {
  const store::entry* found = what.keys.find(what.words[1], what.now);
  if (found == nullptr) return what.out.none();
  what.out.bulk(found->value);
}

void set(call& what) {
  const set_options options(what);
  if (!options.fault.empty()) return what.out.error(options.fault);
  store::entry* found = what.keys.find(what.words[1], what.now);
  if (found == nullptr ? options.only_old : options.only_new) return what.out.none();
  if (found == nullptr)
    found = &what.keys.add(what.words[1], what.words[2]);
  else
    found->value = what.words[2];
  found->end = options.end;
  what.out.simple("OK");
}

void del(call& what) {
  std::int64_t count = 0;
  for (std::size_t i = 1; i < what.words.size(); ++i)
    count += what.keys.remove(what.words[i], what.now) ? 1 : 0;
  what.out.number(count);
}

void exists(call& what) {
  std::int64_t count = 0;
  for (std::size_t i = 1; i < what.words.size(); ++i)
    count += what.keys.find(what.words[i], what.now) != nullptr ? 1 : 0;
  what.out.number(count);
}

void incr(call& what) {
  store::entry* found = what.keys.find(what.words[1], what.now);
  if (found == nullptr) found = &what.keys.add(what.words[1], "0");
  const auto value = number(found->value);
  if (!value) return what.out.error(no_number);
  std::int64_t sum = 0;
  if (__builtin_add_overflow(*value, std::int64_t{1}, &sum))
    return what.out.error("ERR increment or decrement would overflow");
  found->value = std::to_string(sum);
  what.out.number(sum);
}

void expire(call& what) {
  const auto count = number(what.words[2]);
  if (!count || *count > longest_time) return what.out.error(no_number);
  store::entry* found = what.keys.find(what.words[1], what.now);
  if (found == nullptr) return what.out.number(0);
  if (*count > 0)
    found->end = what.now + seconds(*count);
  else
    what.keys.remove(what.words[1], what.now);
  what.out.number(1);
}

// Whole seconds, rounded; -1: it does not end; -2: there is none.
void ttl(call& what) {
  const store::entry* found = what.keys.find(what.words[1], what.now);
  if (found == nullptr) return what.out.number(-2);
  if (found->end == skua::instant::never()) return what.out.number(-1);
  const auto left = (found->end - what.now).to<milliseconds>();
  what.out.number((left.count() + 500) / 1000);
}

void dbsize(call& what) {
  what.out.number(static_cast<std::int64_t>(what.keys.size()));
}

}  // namespace redis

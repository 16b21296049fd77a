// examples/guide/fibers.cpp: the fiber of docs/guide/blocking-and-fibers.md.
#include <skua/fiber.hpp>
#include <skua/skua.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace {

namespace fiber = skua::fiber;
namespace io = skua::io;

// [snippet: fiber]
// A parser that calls back for more, from the middle of its loops, and expects to be given some.
template <typename Source>
std::string first_word(Source next_byte) {
  std::string word;
  for (char c = next_byte(); c != ' '; c = next_byte()) word += c;
  return word;
}

skua::task<std::string> parse(io::duplex_stream& from) {
  const auto parser = [&from] {
    return first_word([&from] {
      std::array<std::byte, 1> one;
      const auto got = fiber::await(from.read(one));  // this fiber waits, the worker does not
      return got.has_value() && *got == 1 ? static_cast<char>(one[0]) : ' ';
    });
  };
  co_return co_await fiber::run(parser);
}
// [end]

skua::task<int> amain() {
  auto [here, there] = io::duplex(4);
  const auto say = [](io::duplex_stream to) -> skua::task<> {
    const std::string text = "seabird ";
    skua::or_throw(co_await io::write_all(to, std::as_bytes(std::span(text))));
  };
  auto writer = skua::spawn(say(std::move(there)));
  const std::string word = co_await parse(here);
  co_await std::move(writer);
  co_return word == "seabird" ? 0 : 1;
}

}  // namespace

int main() {
  return skua::run(amain());
}

// examples/guide/framing.cpp: the code of docs/guide/framing.md.
#include <skua/skua.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace io = skua::io;

// [snippet: lines]
skua::task<skua::result<std::size_t>> longest_line(io::duplex_stream& from) {
  skua::framed lines(from, skua::framing::lines(4096));  // a longer one is an error
  std::size_t longest = 0;
  for (;;) {
    const auto line = co_await skua::or_return(co_await lines.next());
    if (!line) co_return longest;  // the end of the stream
    longest = std::max(longest, line->text().size());
  }
}
// [end]

// [snippet: head-and-body]
skua::task<skua::result<std::string>> read_message(io::buffered_reader<io::duplex_stream&>& from) {
  std::size_t length = 0;
  for (;;) {  // lines of a head, until an empty one
    const auto line = co_await skua::or_return(co_await from.read_line(1024));
    if (!line) co_return skua::fail(skua::errc::end_of_stream);
    const std::string_view text = line->text();
    if (text.empty()) break;
    if (text.starts_with("length: ")) length = std::stoul(std::string(text.substr(8)));
  }
  if (length > 1'000'000) co_return skua::fail(skua::errc::limit_exceeded);
  std::string body(length, ' ');
  co_await skua::or_return(
      co_await io::read_exactly(from, std::as_writable_bytes(std::span(body))));
  co_return body;
}
// [end]

// [snippet: own]
// Messages of two bytes, as one writes them who has no rule of ours: look, and use up.
skua::task<skua::result<std::vector<std::string>>> pairs(io::duplex_stream& from) {
  io::buffered_reader input(from);
  std::vector<std::string> all;
  for (;;) {
    const auto bytes = co_await skua::or_return(co_await input.fill_buffer(2));
    if (bytes.size() < 2) co_return all;  // fewer only at the end
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    for (std::size_t at = 0; at + 2 <= bytes.size(); at += 2) all.emplace_back(text + at, 2);
    input.consume(bytes.size() / 2 * 2);
  }
}
// [end]

skua::task<> say(io::duplex_stream to, std::string text) {
  skua::or_throw(co_await io::write_all(to, std::as_bytes(std::span(text))));
}

skua::task<int> amain() {
  auto [one, from_one] = io::duplex(7);
  auto writer = skua::spawn(say(std::move(one), "a\nlonger\r\nlast"));
  const auto longest = co_await longest_line(from_one);
  co_await std::move(writer);

  auto [two, from_two] = io::duplex(7);
  auto second = skua::spawn(say(std::move(two), "from: me\nlength: 5\n\nhello"));
  io::buffered_reader input(from_two);
  const auto body = co_await read_message(input);
  co_await std::move(second);

  auto [three, from_three] = io::duplex(3);
  auto third = skua::spawn(say(std::move(three), "aabbcc"));
  const auto all = co_await pairs(from_three);
  co_await std::move(third);

  const bool right = longest.value() == 6 && body.value() == "hello" && all.value().size() == 3;
  co_return right ? 0 : 1;
}

}  // namespace

int main() {
  return skua::run(amain());
}

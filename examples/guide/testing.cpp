// examples/guide/testing.cpp: the code of docs/guide/testing.md.
#include <skua/skua.hpp>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <system_error>
#include <utility>

namespace {

using namespace std::chrono_literals;
namespace io = skua::io;

// [snippet: virtual-time]
skua::task<int> poll_until_tired() {
  int polls = 0;
  const skua::instant end = skua::now() + 24h;
  while (skua::now() < end) {
    co_await skua::sleep(10min);
    ++polls;
  }
  co_return polls;
}

bool polls_for_a_day() {
  const int polls = skua::testing::virtual_time(poll_until_tired());  // takes microseconds
  return polls == 144;                                                // exactly, in every run
}
// [end]

// [snippet: timeout]
bool times_out_after_a_minute() {
  return skua::testing::virtual_time([]() -> skua::task<bool> {
    const skua::instant begun = skua::now();
    auto [tx, rx] = skua::mpsc::channel<int>(1);  // a gate in place of a socket
    const auto got = co_await skua::timeout(1min, rx.receive());
    co_return got.error() == std::errc::timed_out&& skua::now() - begun == 1min;
  });
}
// [end]

// [snippet: duplex]
template <skua::async_stream Stream>
skua::task<skua::result<void>> greet(Stream peer) {  // a handler that takes any stream
  skua::framed lines(peer, skua::framing::lines());
  const auto name = co_await skua::or_return(co_await lines.next());
  if (!name) co_return {};
  const std::string text = "hello, " + std::string(name->text()) + "\n";
  co_return co_await io::write_all(peer, std::as_bytes(std::span(text)));
}

skua::task<bool> greets_by_name() {
  auto [client, server] = io::duplex(3);  // three bytes at a time: every boundary is met
  auto handler = skua::spawn(greet(std::move(server)));
  const std::string name = "Ann\n";
  skua::or_throw(co_await io::write_all(client, std::as_bytes(std::span(name))));
  skua::framed lines(client, skua::framing::lines());
  const auto heard = skua::or_throw(co_await lines.next());
  skua::or_throw(co_await std::move(handler));
  co_return heard.has_value() && heard->text() == "hello, Ann";
}
// [end]

}  // namespace

int main() {
  const bool right = polls_for_a_day() && times_out_after_a_minute() && skua::run(greets_by_name());
  return right ? 0 : 1;
}

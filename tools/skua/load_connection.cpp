// tools/skua/load_connection.cpp: one connection of a load: sends, and measures the answers.
#include "load_connection.hpp"

#include <skua/coro/or_return.hpp>
#include <skua/coro/race.hpp>
#include <skua/time/sleep.hpp>
#include <skua/time/timeout.hpp>

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

namespace skua_tool {
namespace {

constexpr std::size_t receive_least = 4'096;
constexpr std::size_t receive_most = 65'536;

std::size_t buffer_size(const load_shape& how) {
  return std::clamp(how.message.size() * how.depth, receive_least, receive_most);
}

std::uint64_t count_due(skua::instant first, skua::time_span interval) {
  const std::int64_t passed = (skua::now() - first).count();
  return passed < 0 ? 0 : static_cast<std::uint64_t>(passed / interval.count()) + 1;
}

}  // namespace

skua::task<> load_connection::run(skua::instant first, skua::cancel_token end) {
  if (how_.in_turn()) return ask_in_turn(std::move(end));
  return ask_at_once(first, std::move(end));
}

// An answer's moment is that of the next message: one look at the clock does for both.
skua::task<> load_connection::ask_in_turn(skua::cancel_token end) {
  std::vector<std::byte> buffer(buffer_size(how_));
  ended_ = skua::now();
  while (!end.is_cancelled()) {
    count_sent(ended_);
    const skua::result<void> written = co_await stream_.write_all(how_.message);
    if (!written.has_value()) {
      broke(written.error().message());
      co_return;
    }
    while (awaits_answers())
      if (!came(co_await stream_.read(buffer), buffer)) co_return;
  }
}

skua::task<> load_connection::ask_at_once(skua::instant first, skua::cancel_token end) {
  // Whoever ends first stops the other: the sender when all is answered, the receiver when the
  // connection breaks.
  co_await skua::race(send_until(first, std::move(end)), receive());
}

skua::task<> load_connection::send_until(skua::instant first, skua::cancel_token end) {
  const bool scheduled = how_.interval.count() > 0;
  skua::result<void> ended;
  if (scheduled)
    ended = co_await end.guard(send_on_schedule(first));
  else
    ended = co_await end.guard(send_in_turn());
  sending_ = false;
  ended_ = skua::now();
  if (!ended.has_value() && ended.error() != std::errc::operation_canceled) {
    broke(ended.error().message());
    co_return;
  }
  const std::uint64_t due = scheduled ? count_due(first, how_.interval) : sent();
  unsent_ = due - std::min(due, sent());
  if (!awaits_answers()) co_return;
  (void)co_await skua::timeout(how_.patience, all_answered_.wait());
}

skua::task<skua::result<void>> load_connection::send_in_turn() {
  for (;;) {
    auto room = co_await skua::or_return(co_await credit_.acquire());
    room.forget();  // until the answer gives it back
    co_await skua::or_return(co_await send_one(skua::now()));
  }
}

skua::task<skua::result<void>> load_connection::send_on_schedule(skua::instant first) {
  for (skua::instant moment = first;; moment = moment + how_.interval) {
    if (moment > skua::now()) co_await skua::sleep_until(moment);
    co_await skua::or_return(co_await send_one(moment));
  }
}

skua::task<skua::result<void>> load_connection::send_one(skua::instant counts_from) {
  count_sent(counts_from);
  writing_ = true;
  const skua::result<void> written = co_await stream_.write_all(how_.message);
  writing_ = false;
  co_return written;
}

void load_connection::count_sent(skua::instant counts_from) {
  in_flight_.push_back(counts_from);
  // order: none; only this task writes, and a reader wants nothing but the number
  sent_.store(sent_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

skua::task<> load_connection::receive() {
  std::vector<std::byte> buffer(buffer_size(how_));
  while (came(co_await stream_.read(buffer), buffer))
    if (!sending_ && !awaits_answers()) all_answered_.set();
}

// Of a read; false if the connection broke.
bool load_connection::came(const skua::result<std::size_t>& n, std::span<const std::byte> buffer) {
  if (!n.has_value())
    broke(n.error().message());
  else if (*n == 0)
    broke("the target has closed the connection");
  else if (!take(buffer.first(*n)))
    broke("the target sends something else than an echo");
  else
    return true;
  return false;
}

// False if these are not the bytes that were sent.
bool load_connection::take(std::span<const std::byte> bytes) {
  const skua::instant now = skua::now();
  while (!bytes.empty()) {
    const std::size_t length = std::min(bytes.size(), how_.message.size() - partial_);
    if (in_flight_.empty() ||
        std::memcmp(bytes.data(), how_.message.data() + partial_, length) != 0)
      return false;
    bytes = bytes.subspan(length);
    partial_ = (partial_ + length) % how_.message.size();
    if (partial_ != 0) continue;
    times_.record((now - in_flight_.front()).count());
    in_flight_.pop_front();
    ended_ = now;
    if (!how_.in_turn()) credit_.add_permits(1);
  }
  return true;
}

void load_connection::broke(std::string_view why) {
  if (error_.empty()) error_ = why;
}

}  // namespace skua_tool

// tools/skua/load_connection.hpp: one connection of a load: sends, and measures the answers.
#pragma once

#include "latencies.hpp"

#include <skua/base/result.hpp>
#include <skua/coro/task.hpp>
#include <skua/net/tcp_stream.hpp>
#include <skua/sync/cancel_token.hpp>
#include <skua/sync/event.hpp>
#include <skua/sync/semaphore.hpp>
#include <skua/time/instant.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>

namespace skua_tool {

/// What each connection is to do.
struct load_shape {
  std::span<const std::byte> message;
  std::size_t depth = 1;     // closed loop: so many wait for their answers at a time
  skua::time_span interval;  // open loop: from one message to the next; 0: closed
  skua::time_span patience;  // for the last answers

  /// One message at a time, of a size that every connection takes at once: then nobody needs to
  /// read while it is written, which leaves more of the processor to what is measured.
  [[nodiscard]] bool in_turn() const noexcept {
    return depth == 1 && interval.count() == 0 && message.size() <= 16'384;
  }
};

/// Closed loop: the next message goes when an answer has come, so that a slow server is asked less.
/// Open loop: each message has its moment, whatever the server does, and its time counts from that
/// moment, also if it could only be sent later.
class load_connection {
public:
  /// `times` may be shared, and stays as long as this.
  load_connection(skua::net::tcp_stream stream, const load_shape& how, latencies& times)
      : stream_(std::move(stream)), how_(how), times_(times), credit_(how.depth) {}

  /// Sends until `end`, waits for the answers that are due, and ends: before that if the connection
  /// breaks. `first`: when the first message of an open loop goes. Once. If messages go in turn,
  /// who started it stops it when patience is over: a timer for each would cost more than it does.
  skua::task<> run(skua::instant first, skua::cancel_token end);

  /// By anybody, meanwhile.
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }

  // When run() has ended.

  /// Due, but not sent when the end came: the connection did not take them.
  [[nodiscard]] std::uint64_t unsent() const noexcept { return unsent_; }
  /// Sent, or begun to be, and not answered.
  [[nodiscard]] std::uint64_t unanswered() const noexcept { return in_flight_.size(); }
  /// When it had nothing more to send, or had the last answer.
  [[nodiscard]] skua::instant ended() const noexcept { return ended_; }
  /// Why it broke; empty if it did not.
  [[nodiscard]] const std::string& error() const noexcept { return error_; }

private:
  skua::task<> ask_at_once(skua::instant first, skua::cancel_token end);
  skua::task<> send_until(skua::instant first, skua::cancel_token end);
  skua::task<skua::result<void>> send_in_turn();
  skua::task<skua::result<void>> send_on_schedule(skua::instant first);
  skua::task<skua::result<void>> send_one(skua::instant counts_from);
  skua::task<> ask_in_turn(skua::cancel_token end);
  skua::task<> receive();
  [[nodiscard]] bool came(const skua::result<std::size_t>& n, std::span<const std::byte> buffer);
  void count_sent(skua::instant counts_from);
  [[nodiscard]] bool take(std::span<const std::byte> bytes);
  [[nodiscard]] bool awaits_answers() const noexcept {
    return in_flight_.size() > (writing_ ? 1 : 0);
  }
  void broke(std::string_view why);

  skua::net::tcp_stream stream_;
  const load_shape how_;
  latencies& times_;

  // Sender and receiver, if they are two, take turns in one task, so that this needs no locks.
  std::deque<skua::instant> in_flight_;  // from when each counts, in the order of their answers
  std::size_t partial_ = 0;              // bytes that have come of the next answer
  bool sending_ = true;
  bool writing_ = false;  // a message is on its way; if sending ended meanwhile, it was cut off
  skua::semaphore credit_;
  skua::event all_answered_;
  skua::instant ended_;
  std::uint64_t unsent_ = 0;
  std::string error_;

  std::atomic<std::uint64_t> sent_ = 0;
};

}  // namespace skua_tool

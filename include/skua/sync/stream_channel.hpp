// skua/sync/stream_channel.hpp: channels as streams, and streams into channels.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/async_generator.hpp"
#include "skua/coro/awaitable.hpp"
#include "skua/coro/task.hpp"
#include "skua/sync/broadcast.hpp"
#include "skua/sync/send_result.hpp"
#include "skua/sync/shared_value.hpp"
#include "skua/sync/watch.hpp"

#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI::stream {

/// An end of a channel whose receive() gives optional messages: mpsc, mpmc, spsc.
template <typename Receiver>
concept message_receiver = requires(Receiver& rx) {
  typename await_result_t<decltype(rx.receive())>::value_type;
  { *rx.try_receive() };
};

template <typename Receiver>
async_generator<typename await_result_t<
    decltype(std::declval<std::remove_reference_t<Receiver>&>().receive())>::value_type>
run_messages(Receiver from);
template <typename T, typename Receiver>
async_generator<broadcast::reception<T>> run_receptions(Receiver from);
template <typename T, typename Receiver>
async_generator<shared_value<T>> run_latest(Receiver from);

/// `stream::from(rx)`: what comes out of a channel (mpsc, mpmc, spsc), until its end. A receiver
/// with a name stays where it is, and must stay there as long as the stream; a temporary
/// (`std::move(rx)`) is moved in, and dropped with the stream.
///
/// Cancellation: the stream ends, as every stream does whose next() is stopped or loses a race, but
/// no message is lost: what was not given is in the channel. So keep the receiver, and make another
/// stream of it, if others are to go on receiving.
template <typename Receiver>
  requires message_receiver<std::remove_reference_t<Receiver>>
[[nodiscard]] auto from(Receiver&& rx) {
  return run_messages<Receiver>(std::forward<Receiver>(rx));
}

/// The same for a broadcast: gives receptions, which are messages or tell how many were lost.
template <typename T>
[[nodiscard]] async_generator<broadcast::reception<T>> from(broadcast::receiver<T>& rx) {
  return run_receptions<T, broadcast::receiver<T>&>(rx);
}
/// The same with a receiver that is moved in.
template <typename T>
[[nodiscard]] async_generator<broadcast::reception<T>> from(broadcast::receiver<T>&& rx) {
  return run_receptions<T, broadcast::receiver<T>>(std::move(rx));
}

/// The same for a watch: gives its value as it is when first asked, and then the latest whenever
/// that has changed, until the senders are gone.
template <typename T>
[[nodiscard]] async_generator<shared_value<T>> from(watch::receiver<T>& rx) {
  return run_latest<T, watch::receiver<T>&>(rx);
}
/// The same with a receiver that is moved in.
template <typename T>
[[nodiscard]] async_generator<shared_value<T>> from(watch::receiver<T>&& rx) {
  return run_latest<T, watch::receiver<T>>(std::move(rx));
}

template <typename T, typename Sender>
task<send_result<T>> run_forward(async_generator<T> from, Sender to);

/// `co_await stream::forward(source, tx)` sends every value, waiting where there is no room, until
/// the source has ended or nobody receives any more. Gives a send_result: sent, or closed and the
/// value that could not be sent. For mpsc, mpmc and spsc, bounded or not. A sender with a name
/// stays the caller's; a temporary is moved in, and gone afterwards, so that receivers see the end.
///
/// Throws what the source throws. A stop unwinds; a value that waits for room is lost then.
template <typename T, typename Sender>
[[nodiscard]] task<send_result<T>> forward(async_generator<T> from, Sender&& to) {
  return run_forward<T, Sender>(std::move(from), std::forward<Sender>(to));
}

// --- how. A Receiver or Sender is a reference if it has a name.

template <typename Receiver>
async_generator<typename await_result_t<
    decltype(std::declval<std::remove_reference_t<Receiver>&>().receive())>::value_type>
run_messages(Receiver from) {
  while (auto message = co_await from.receive()) co_yield std::move(*message);
}

template <typename T, typename Receiver>
async_generator<broadcast::reception<T>> run_receptions(Receiver from) {
  for (;;) {
    broadcast::reception<T> one = co_await from.receive();
    if (!one && one.lagged() == 0) co_return;
    co_yield std::move(one);
  }
}

template <typename T, typename Receiver>
async_generator<shared_value<T>> run_latest(Receiver from) {
  for (bool more = true; more; more = co_await from.changed()) {
    shared_value<T> latest = from.borrow_and_mark_seen();
    co_yield std::move(latest);
  }
}

template <typename T, typename Sender>
task<send_result<T>> run_forward(async_generator<T> from, Sender last) {
  Sender to = std::forward<Sender>(last);  // one that was moved in ends here, not with the frame
  while (auto item = co_await from.next()) {
    send_result<T> sent;
    if constexpr (awaitable<decltype(to.send(std::move(*item)))>)
      sent = co_await to.send(std::move(*item));
    else
      sent = to.send(std::move(*item));
    if (!sent) co_return sent;
  }
  co_return send_result<T>();
}

}  // namespace skua::inline SKUA_ABI::stream

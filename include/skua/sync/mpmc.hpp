// skua/sync/mpmc.hpp: messages from many senders to many receivers, each to one of them.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/sync/channel_receiver.hpp"
#include "skua/sync/channel_sender.hpp"
#include "skua/sync/channel_state.hpp"
#include "skua/sync/unbounded_sender.hpp"
#include "skua/sync/unbounded_state.hpp"

#include <cstddef>
#include <utility>

/// `auto [tx, rx] = skua::mpmc::channel<job>(64);` and a copy of `rx` for each worker. As mpsc, but
/// receivers can be copied; each message goes to one of them, and who has waited longest is next.
namespace skua::inline SKUA_ABI::mpmc {

/// Waits while the channel is full.
template <typename T>
using sender = channel_sender<T>;
/// Takes whatever comes, and never waits.
template <typename T>
using unbounded_sender = skua::unbounded_sender<T>;
/// Room for one message.
template <typename T>
using permit = typename channel_sender<T>::permit;

/// A channel_receiver that can be copied: any number of tasks and threads may use one, or each a
/// copy of its own. When the last is gone the channel is closed.
template <typename T>
class receiver : public channel_receiver<T> {
public:
  using channel_receiver<T>::channel_receiver;
  /// Another receiver of the same channel.
  receiver(const receiver& from) noexcept : channel_receiver<T>(from) {}
  /// `from` can only be assigned to or destroyed.
  receiver(receiver&& from) noexcept = default;
  /// The channel that it was of loses a receiver.
  receiver& operator=(receiver&& from) noexcept = default;
  /// The same; this is a receiver of the other's channel then.
  receiver& operator=(const receiver& from) noexcept {
    if (this != &from) *this = receiver(from);
    return *this;
  }
  ~receiver() = default;
};

/// At most `capacity` messages are inside, or have been promised room: who sends more has to wait.
/// Their places are allocated here. Throws std::bad_alloc.
///
/// A capacity of 0 is a rendezvous: a send ends when somebody waited to receive and the message was
/// handed over, one at a time. If that receiver is unwound before it goes on (it lost a race) the
/// message is not taken back, since the sender has gone on: it stays inside for the next.
/// try_send() works only while somebody waits to receive, and try_receive() finds only what was
/// left like that.
template <typename T>
[[nodiscard]] std::pair<sender<T>, receiver<T>> channel(std::size_t capacity) {
  channel_state<T>& shared = channel_state<T>::make_bounded(capacity);
  return {sender<T>(shared), receiver<T>(shared)};
}

/// Sending never waits. It takes memory for 16 messages, then for more at a time, from what frames
/// of coroutines are made of if it is little; that is given back there. Throws std::bad_alloc.
template <typename T>
[[nodiscard]] std::pair<unbounded_sender<T>, receiver<T>> unbounded_channel() {
  unbounded_state<T>& shared = unbounded_state<T>::make();
  return {unbounded_sender<T>(shared), receiver<T>(shared)};
}

}  // namespace skua::inline SKUA_ABI::mpmc

// skua/sync/mpsc.hpp: messages from many senders to one receiver, in order.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/sync/channel_receiver.hpp"
#include "skua/sync/channel_sender.hpp"
#include "skua/sync/channel_state.hpp"
#include "skua/sync/unbounded_sender.hpp"
#include "skua/sync/unbounded_state.hpp"

#include <cstddef>
#include <utility>

/// `auto [tx, rx] = skua::mpsc::channel<job>(64);` The handles may go to any task, thread or
/// runtime, and outlive each other. What one sender sends arrives in that order.
namespace skua::inline SKUA_ABI::mpsc {

/// Waits while the channel is full.
template <typename T>
using sender = channel_sender<T>;
/// Takes whatever comes, and never waits.
template <typename T>
using unbounded_sender = skua::unbounded_sender<T>;
/// The only one: it moves, and cannot be copied.
template <typename T>
using receiver = channel_receiver<T>;
/// Room for one message.
template <typename T>
using permit = typename channel_sender<T>::permit;

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

}  // namespace skua::inline SKUA_ABI::mpsc

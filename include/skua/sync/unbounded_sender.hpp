// skua/sync/unbounded_sender.hpp: the sending end of a channel that takes whatever comes.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/sync/channel_sender.hpp"
#include "skua/sync/channel_state.hpp"
#include "skua/sync/send_result.hpp"

#include <utility>

namespace skua::inline SKUA_ABI {

/// Never waits, so nothing keeps a fast sender from filling the memory: prefer a bounded channel.
/// Any number of tasks and threads may use one, or each a copy of its own.
template <typename T>
class unbounded_sender : public channel_sender_handle<T> {
public:
  using channel_sender_handle<T>::channel_sender_handle;

  /// Sent, or closed and the message comes back. Throws std::bad_alloc; the message is lost then.
  send_result<T> send(T message) const {
    channel_state<T>& to = this->state();
    typename channel_state<T>::ring::hold more;
    to.lock();
    while (!to.is_closed() && to.needs_ring()) {
      if (more) {
        to.add(std::move(more));
        break;
      }
      const std::size_t places = to.places_of_next_ring();
      to.unlock();
      more = channel_state<T>::ring::make(places);
      to.lock();
    }
    if (to.is_closed()) {
      to.unlock();
      return {send_result<T>::reason::closed, std::move(message)};
    }
    to.put(std::move(message));
    to.unlock_after_move();
    return {};
  }
};

}  // namespace skua::inline SKUA_ABI

// skua/sync/unbounded_sender.hpp: the sending end of a channel that takes whatever comes.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/sync/channel_sender.hpp"
#include "skua/sync/send_result.hpp"
#include "skua/sync/unbounded_state.hpp"

#include <utility>

namespace skua::inline SKUA_ABI {

/// Never waits, so nothing keeps a fast sender from filling the memory: prefer a bounded channel.
/// Any number of tasks and threads may use one, or each a copy of its own.
template <typename T>
class unbounded_sender : public channel_sender_handle<T> {
public:
  /// Use unbounded_channel().
  explicit unbounded_sender(unbounded_state<T>& of) noexcept : channel_sender_handle<T>(of) {}

  /// Sent, or closed and the message comes back. Throws std::bad_alloc; the message is lost then.
  send_result<T> send(T message) const {
    if (static_cast<unbounded_state<T>&>(this->state()).put(message)) [[likely]]
      return {};
    return {send_result<T>::reason::closed, std::move(message)};
  }
};

}  // namespace skua::inline SKUA_ABI

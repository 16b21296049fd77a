// examples/redis/hub.cpp: who joins, who leaves, and who is sent what.
#include "hub.hpp"

#include <algorithm>

namespace redis {

std::size_t hub::publish(std::string_view channel, std::string_view message) {
  replies encoded;
  encoded.array(3);
  encoded.bulk("message");
  encoded.bulk(channel);
  encoded.bulk(message);
  const std::string text(encoded.text());
  const std::lock_guard hold(mutex_);
  const auto found = channels_.find(channel);
  if (found == channels_.end()) return 0;
  for (listener* one : found->second) one->post(text);
  return found->second.size();
}

hub::listener::~listener() {
  while (!names_.empty()) unsubscribe(std::string(*names_.begin()));
}

void hub::listener::subscribe(std::string_view channel) {
  if (names_.contains(channel)) return;
  if (!mailbox_) mailbox_.emplace(skua::mpsc::channel<std::string>(mailbox_size));
  names_.emplace(channel);
  const std::lock_guard hold(hub_.mutex_);
  hub_.channels_[std::string(channel)].push_back(this);
}

void hub::listener::unsubscribe(std::string_view channel) {
  const auto mine = names_.find(channel);
  if (mine == names_.end()) return;
  {
    const std::lock_guard hold(hub_.mutex_);
    const auto found = hub_.channels_.find(channel);
    std::erase(found->second, this);
    if (found->second.empty()) hub_.channels_.erase(found);
  }
  names_.erase(mine);
}

void hub::listener::take_messages(replies& out) const {
  if (!mailbox_) return;
  while (auto message = messages().try_receive()) out.raw(*message);
}

// The hub's lock is held.
void hub::listener::post(const std::string& message) {
  auto& to = mailbox_->first;
  if (to && !to->try_send(message)) to.reset();
}

}  // namespace redis

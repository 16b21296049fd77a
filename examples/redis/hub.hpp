// examples/redis/hub.hpp: channels, who listens to them, and messages on their way.
#pragma once

#include "reply.hpp"

#include <skua/sync/mpsc.hpp>

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redis {

// Any task may use it, on any thread. Its lock is a std::mutex, since no task waits while it holds
// it, and since a listener has to be able to leave in a destructor, which cannot wait.
class hub {
public:
  class listener;

  // To all who listen; says how many they were. Waits for nobody: a listener that is mailbox_size
  // messages behind gets no more, and sees the end of its mail.
  std::size_t publish(std::string_view channel, std::string_view message);

private:
  static constexpr std::size_t mailbox_size = 1024;

  std::mutex mutex_;
  std::map<std::string, std::vector<listener*>, std::less<>> channels_;
};

// One client's part. For one task; leaves all channels when it ends.
class hub::listener {
public:
  using mail = skua::mpsc::receiver<std::string>;

  explicit listener(hub& of) : hub_(of) {}
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  ~listener();

  void subscribe(std::string_view channel);
  // No message of that channel comes after this.
  void unsubscribe(std::string_view channel);

  [[nodiscard]] bool is_subscribed() const { return !names_.empty(); }
  [[nodiscard]] const std::set<std::string, std::less<>>& names() const { return names_; }

  // Messages as clients get them. Only once something was subscribed to.
  [[nodiscard]] const mail& messages() const { return mailbox_->second; }
  // Those that are there.
  void take_messages(replies& out) const;

private:
  friend class hub;
  void post(const std::string& message);

  hub& hub_;
  std::set<std::string, std::less<>> names_;
  std::optional<std::pair<std::optional<skua::mpsc::sender<std::string>>, mail>> mailbox_;
};

}  // namespace redis

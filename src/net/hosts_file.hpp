// src/net/hosts_file.hpp: the names that a file on this machine gives addresses to.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/net/ip_address.hpp"
#include "skua/net/ip_family.hpp"
#include "skua/sync/mutex.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace skua::inline SKUA_ABI::net {

/// Name, in lower case, and all its addresses, in the order of the file.
using hosts_table = std::unordered_map<std::string, std::vector<ip_address>>;

/// What /etc/hosts looks like: an address and names on each line, # begins a comment. Lines that
/// make no sense are passed over.
[[nodiscard]] hosts_table parse_hosts(std::string_view text);

/// Keeps what it has read, and reads it again when the file has changed. Any number of tasks.
class hosts_file {
public:
  explicit hosts_file(std::string path) noexcept : path_(std::move(path)) {}

  /// Nothing if the name is not in the file. If it is, those of its addresses that are of the
  /// wanted kind, perhaps none. Suspends. A file that cannot be read has no names in it, and is
  /// read again the next time: perhaps there was no descriptor.
  [[nodiscard]] task<std::optional<std::vector<ip_address>>> find(const std::string& name,
                                                                  ip_family which);

private:
  /// Which file it was, and when it was changed.
  struct stamp {
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    std::int64_t seconds = 0;
    std::uint32_t nanoseconds = 0;
    friend bool operator==(const stamp&, const stamp&) noexcept = default;
  };

  task<stamp> look();
  task<result<std::string>> read_all();

  const std::string path_;
  mutex reading_;
  stamp read_;         // by who holds the mutex
  hosts_table table_;  // likewise
};

}  // namespace skua::inline SKUA_ABI::net

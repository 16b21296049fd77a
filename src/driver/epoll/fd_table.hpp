// src/driver/epoll/fd_table.hpp: what the epoll drivers of one runtime know about descriptors.
#pragma once

#include "skua/base/cache_line.hpp"
#include "skua/base/intrusive_list.hpp"
#include "skua/driver/operation.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace skua::inline SKUA_ABI {

class epoll_driver;

/// In which way a descriptor is ready.
enum readiness : std::uint8_t { not_ready = 0, readable = 1, writable = 2, ready = 3 };

/// One number. What is known about it holds for the file that has it until forget().
struct alignas(cache_line) fd_entry {
  enum class interest : std::uint8_t {
    none,
    once,  // says one event, then has to be armed again; nothing is concluded from silence
    ever,  // says each change, for as long as the descriptor is open: silence means no change
  };

  std::mutex mutex;  // over all that follows

  /// Of the registration: events of an earlier one are ignored.
  std::uint32_t generation = 0;
  std::uint32_t waiting = 0;      // how many, on all lists
  epoll_driver* where = nullptr;  // whose epoll has it; null: none
  interest kind = interest::none;
  std::uint64_t owner = 0;  // while the interest is `ever`: of whose file all this is known
  /// While the interest is `ever`: a try in this direction may succeed. Without the bit it cannot,
  /// before the next event.
  std::uint8_t may_try = ready;
  /// An event told of an end, an error or urgent data. That may come together with the last bytes,
  /// in one event: from then on less than was asked for does not mean that nothing is left.
  bool odd = false;
  bool tcp = false;          // while the interest is `ever`
  bool nonblocking = false;  // while the interest is `ever`: seen to be, and made so if it was not

  intrusive_list<operation> readers;
  intrusive_list<operation> writers;
  intrusive_list<operation> watchers;  // are tried at every event

  /// Forgets the file, but not who waits.
  void forget() noexcept {
    ++generation;
    where = nullptr;
    kind = interest::none;
    may_try = ready;
    odd = tcp = nonblocking = false;
  }
};

/// The entries, by number. They are made when they are first asked for, in chunks, and stay where
/// they are for as long as the table lives: longer than the drivers that use it, which all die
/// together. All functions are for any thread.
class fd_table {
public:
  fd_table() = default;
  fd_table(const fd_table&) = delete;
  fd_table& operator=(const fd_table&) = delete;
  ~fd_table();

  /// Null if nobody asked for it, or one of its chunk, before; or if it is negative.
  [[nodiscard]] fd_entry* find(int fd) const noexcept;
  /// Null if it is negative, or there is no memory.
  [[nodiscard]] fd_entry* get(int fd) noexcept;

private:
  static constexpr std::size_t chunk_bits = 8;
  static constexpr std::size_t branch_bits = 12;
  static constexpr std::size_t root_bits = 11;
  static_assert(chunk_bits + branch_bits + root_bits == 31, "every descriptor has its entry");

  using chunk = std::array<fd_entry, 1U << chunk_bits>;
  struct branch {
    std::array<std::atomic<chunk*>, 1U << branch_bits> chunks{};
  };

  std::array<std::atomic<branch*>, 1U << root_bits> branches_{};
  std::mutex growth_;
};

}  // namespace skua::inline SKUA_ABI

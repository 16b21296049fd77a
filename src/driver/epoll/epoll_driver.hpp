// src/driver/epoll/epoll_driver.hpp: operations as system calls that are tried when they can work.
#pragma once

#include "driver/epoll/attempt.hpp"
#include "driver/epoll/fd_table.hpp"
#include "driver/epoll/poller.hpp"
#include "driver/kernel_driver.hpp"
#include "driver/offload_target.hpp"
#include "skua/base/clock.hpp"
#include "skua/base/intrusive_list.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>

namespace skua::inline SKUA_ABI {

/// The way of an operation, and its place meanwhile:
///   submit()     tries it. If that gives a result it ends there; if a later try of the owner's
///                does: `queued`, on `results_`
///   wait_for()   otherwise `in_kernel`: in the entry of its descriptor, which is registered with
///                the epoll of one driver, not always this one
///   offload()    or `in_pool`, if a thread has to block for it
///   dispatch()   the driver whose epoll tells that the descriptor is ready tries again, the first
///                in line first, and takes out what has ended: `nowhere`
///   go_on()      what has to wait elsewhere now, or to block, is taken out, too: `queued`, on the
///                list of the thread that goes on with it
///   hand over    `done`, with no lock held
///
/// A descriptor that has an owner (op_request::owner) is registered once for each owner, for every
/// change. Then silence tells something, and a try that must fail is spared. All other
/// numbers may be another file each time: they are armed for one event whenever somebody waits.
///
/// Locks: the driver's mutex covers wheel and results, and an entry's its lists. Who needs both
/// takes the driver's first; nobody takes two of a kind. An operation's place changes
///   - under the mutex of its home, and
///   - from `in_kernel`, under the mutex of its entry as well or instead: whoever takes it out of
///     the entry has it. So cancel() and the timeout, which hold both, know where it is, and the
///     dispatcher needs one.
/// A system call that cannot block may be made under an entry's lock. What an operation has to try
/// at a descriptor of which silence tells something is tried there, so that no event falls in
/// between a try and what is concluded from it.
class epoll_driver final : public kernel_driver {
public:
  /// `fds`, which all drivers of a runtime share, `time` and `pool` outlive the driver. Otherwise
  /// an errno.
  [[nodiscard]] static std::expected<std::unique_ptr<epoll_driver>, int> make(fd_table& fds,
                                                                              const clock& time,
                                                                              offload_target& pool);
  ~epoll_driver() override;

  bool glance(std::size_t room) noexcept override;
  void submit(operation& op) noexcept override;
  bool cancel(operation& op) noexcept override;

private:
  /// What a look at the epoll, the results and the wheel brought.
  struct serving : harvest {
    intrusive_list<operation> served;  // have ended, but may still be in a wheel
    intrusive_list<operation> again;   // to go on with
  };

  epoll_driver(fd_table& fds, poller made, wakers wakes, const clock& time,
               offload_target& pool) noexcept;

  // No lock is held.
  static void end_at_once(operation& op, std::int32_t result) noexcept;
  void go_on(operation& op, tried now) noexcept;
  tried try_once(operation& op) noexcept;
  bool wait_for(operation& op, bool other_fd) noexcept;
  void block(operation& op) noexcept;
  void close(operation& op) noexcept;
  void forget(int fd) noexcept;
  void give(operation& op, std::int32_t result) noexcept;
  bool drive(bool sleeps, std::size_t room) noexcept override;
  void dispatch(const epoll_event& what, serving& into) noexcept;
  void pass_on_wake() noexcept;
  static void finish(serving& what) noexcept;

  // Under the lock.
  bool admit(operation& op) noexcept;
  void put(operation& op, std::int32_t result) noexcept;
  std::expected<void, int> join(fd_entry& entry, operation& op, int fd) noexcept;
  void refused(operation& op, int error) noexcept;
  void gather(harvest& into) noexcept;
  bool take_back(operation& op) noexcept;
  bool want_cancel(operation& op) noexcept;
  void expire(operation& op, harvest& into) noexcept override;

  // Under the lock of the entry.
  int arm(fd_entry& entry, int fd, std::uint64_t owner) noexcept;
  void register_here(fd_entry& entry) noexcept;
  static void take_out(fd_entry& entry, operation& op) noexcept;
  static void settle(operation& op, const tried& how, serving& into) noexcept;
  static void serve(fd_entry& entry, line which, serving& into) noexcept;
  static void serve_watchers(fd_entry& entry, serving& into) noexcept;

  fd_table& fds_;
  poller poller_;
  std::atomic<std::uint32_t> waiting_{0};  // operations that an event of ours can serve
  std::atomic<bool> some_results_{false};

  intrusive_list<operation> results_;  // have theirs, to be handed over; under the lock
};

}  // namespace skua::inline SKUA_ABI

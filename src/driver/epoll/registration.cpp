// src/driver/epoll/registration.cpp: who waits at a descriptor, and what its events are good for.
#include "driver/epoll/epoll_driver.hpp"

#include <cerrno>

namespace skua::inline SKUA_ABI {
namespace {

using place = operation::place;
using interest = fd_entry::interest;

constexpr std::uint32_t every_change = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET;
constexpr std::uint32_t for_readers = EPOLLIN | EPOLLRDHUP | EPOLLPRI | EPOLLHUP | EPOLLERR;
constexpr std::uint32_t for_writers = EPOLLOUT | EPOLLHUP | EPOLLERR;
constexpr std::uint32_t odd_ones = EPOLLRDHUP | EPOLLPRI | EPOLLHUP | EPOLLERR;

constexpr int tried_too_early = -1;  // no errno
constexpr std::uint64_t nobody = 0;  // an owner's name

/// What comes back with the events of a registration.
std::uint64_t name_of(int fd, std::uint32_t generation) noexcept {
  return std::uint64_t{generation} << 32 | static_cast<std::uint32_t>(fd);
}

intrusive_list<operation>& list_of(fd_entry& entry, line which) noexcept {
  switch (which) {
    case line::readers:
      return entry.readers;
    case line::writers:
      return entry.writers;
    case line::watchers:
      break;
  }
  return entry.watchers;
}

std::uint8_t direction_of(line which) noexcept {
  return which == line::readers ? readable : which == line::writers ? writable : not_ready;
}

std::uint32_t wanted_at(fd_entry& entry) noexcept {
  std::uint32_t events = 0;
  for (const line which : {line::readers, line::writers, line::watchers})
    for (const operation& op : list_of(entry, which)) events |= events_of(op);
  return events;
}

// May conclude from silence that nothing has changed.
bool may_trust(const operation& op) noexcept {
  return op.owner != 0 && line_of(op) != line::watchers;
}

// What is known about the number is known of the file that the operation is about.
bool is_known(const fd_entry& entry, const operation& op) noexcept {
  return entry.kind == interest::ever && entry.owner == op.owner && may_trust(op);
}

tried attempt_at(fd_entry& entry, operation& op) noexcept {
  const tried now = attempt(op, entry.nonblocking ? mode_known::nonblocking : mode_known::no);
  if (entry.kind != interest::ever) return now;
  const bool drained =
      now.how == tried::outcome::ended && entry.tcp && !entry.odd && fell_short(op, now.result);
  if (drained || now.how == tried::outcome::waits)
    entry.may_try &= static_cast<std::uint8_t>(~direction_of(line_of(op)));
  if (op.code == op_code::accept) entry.nonblocking = true;
  return now;
}

}  // namespace

tried epoll_driver::try_once(operation& op) noexcept {
  fd_entry* const entry = out_of_line(op) ? nullptr : fds_.find(op.fd);
  if (entry == nullptr) return attempt(op, mode_known::no);
  const line which = line_of(op);
  std::unique_lock hold(entry->mutex);
  const bool trusts = is_known(*entry, op);
  const bool in_vain = trusts && (entry->may_try & direction_of(which)) == 0;
  if (in_vain || !list_of(*entry, which).empty()) return {.how = tried::outcome::waits};
  if (trusts) return attempt_at(*entry, op);
  hold.unlock();
  return attempt(op, mode_known::no);
}

// False if it is to be tried again first: there was an event since.
bool epoll_driver::wait_for(operation& op, bool other_fd) noexcept {
  const int fd = other_fd ? op.other_fd : op.fd;
  fd_entry* const entry = fds_.get(fd);
  bool asleep = false;
  {
    const std::lock_guard hold(mutex_);
    if (op.code == op_code::splice) op.stage = other_fd;
    if (entry == nullptr) {
      put(op, fd < 0 ? -EBADF : -ENOMEM);
    } else if (admit(op)) {
      const std::expected<void, int> joined = join(*entry, op, fd);
      if (!joined && joined.error() == tried_too_early) return false;
      if (!joined) refused(op, joined.error());
    }
    asleep = timers_.sleeps() && !results_.empty();
  }
  if (asleep) wake();
  return true;
}

// By the epoll. EPERM: a file, which is always ready, and may block all the same.
void epoll_driver::refused(operation& op, int error) noexcept {
  if (error != EPERM) return put(op, -error);
  if (op.code == op_code::poll) return put(op, 0);
  if (!offload(op)) put(op, -EAGAIN);
}

std::expected<void, int> epoll_driver::join(fd_entry& entry, operation& op, int fd) noexcept {
  const line which = line_of(op);
  const std::lock_guard hold(entry.mutex);
  std::uint64_t owner = may_trust(op) ? op.owner : nobody;
  if (is_known(entry, op)) {
    // A connection is begun outside the entry's lock: what is known may be older.
    if (op.code == op_code::connect)
      owner = nobody;
    else if ((entry.may_try & direction_of(which)) != 0)
      return std::unexpected(tried_too_early);
  }
  list_of(entry, which).push_back(op);
  if (const int error = arm(entry, fd, owner); error != 0) {
    intrusive_list<operation>::remove(op);
    return std::unexpected(error);
  }
  if (owner != nobody) entry.may_try &= static_cast<std::uint8_t>(~direction_of(which));
  op.at = place::in_kernel;
  ++entry.waiting;
  // order: none; a hint, see drive().
  entry.where->waiting_.fetch_add(1, std::memory_order_relaxed);
  return {};
}

void epoll_driver::take_out(fd_entry& entry, operation& op) noexcept {
  intrusive_list<operation>::remove(op);
  --entry.waiting;
  // order: none; a hint, see drive().
  if (entry.where != nullptr) entry.where->waiting_.fetch_sub(1, std::memory_order_relaxed);
}

// Registers for every change, once for each owner; or, for nobody, for one event of those that are
// waited for. 0 or an errno.
int epoll_driver::arm(fd_entry& entry, int fd, std::uint64_t owner) noexcept {
  const bool trusts = owner != nobody;
  if (trusts && entry.kind == interest::ever && entry.owner == owner) return 0;
  const std::uint32_t events = trusts ? every_change : wanted_at(entry) | EPOLLONESHOT;
  int error = ENOENT;
  if (entry.where != nullptr)
    error = entry.where->poller_.modify(fd, events, name_of(fd, entry.generation));
  if (error == ENOENT) {  // never registered, or the number is another file's now
    register_here(entry);
    error = poller_.add(fd, events, name_of(fd, entry.generation));
    if (error == EEXIST) error = poller_.modify(fd, events, name_of(fd, entry.generation));
  }
  if (error != 0) return error;
  entry.kind = trusts ? interest::ever : interest::once;
  entry.owner = owner;
  entry.may_try = ready;
  entry.odd = entry.nonblocking = false;
  entry.tcp = trusts && is_tcp(fd);
  return 0;
}

void epoll_driver::register_here(fd_entry& entry) noexcept {
  // order: none; a hint, see drive().
  if (entry.where != nullptr)
    entry.where->waiting_.fetch_sub(entry.waiting, std::memory_order_relaxed);
  entry.forget();
  entry.where = this;
  // order: none; a hint, see drive().
  waiting_.fetch_add(entry.waiting, std::memory_order_relaxed);
}

void epoll_driver::forget(int fd) noexcept {
  fd_entry* const entry = fds_.find(fd);
  if (entry == nullptr) return;
  intrusive_list<operation> left;
  {
    const std::lock_guard hold(entry->mutex);
    for (const line which : {line::readers, line::writers, line::watchers})
      while (operation* const op = list_of(*entry, which).front()) {
        take_out(*entry, *op);
        op->at = place::queued;
        left.push_back(*op);
      }
    // A copy of the descriptor elsewhere would keep the registration alive.
    if (entry->where != nullptr) entry->where->poller_.remove(fd);
    entry->forget();
  }
  while (operation* const op = left.pop_front())
    static_cast<epoll_driver*>(op->home)->give(*op, -EBADF);
}

// --- events

void epoll_driver::dispatch(const epoll_event& what, serving& into) noexcept {
  const auto fd = static_cast<int>(static_cast<std::uint32_t>(what.data.u64));
  fd_entry* const entry = fds_.find(fd);
  if (entry == nullptr) return;
  const std::lock_guard hold(entry->mutex);
  if (entry->where != this || what.data.u64 != name_of(fd, entry->generation)) return;
  const std::uint32_t events = what.events;
  if ((events & odd_ones) != 0) entry->odd = true;
  if ((events & for_readers) != 0) entry->may_try |= readable;
  if ((events & for_writers) != 0) entry->may_try |= writable;
  if ((events & for_readers) != 0) serve(*entry, line::readers, into);
  if ((events & for_writers) != 0) serve(*entry, line::writers, into);
  serve_watchers(*entry, into);
  if (entry->kind == interest::ever || entry->waiting == 0) return;
  const int error = arm(*entry, fd, nobody);
  if (error == 0) return;
  for (const line which : {line::readers, line::writers, line::watchers})
    while (operation* const op = list_of(*entry, which).front()) {
      take_out(*entry, *op);
      settle(*op, {.how = tried::outcome::ended, .result = -error}, into);
    }
}

void epoll_driver::serve(fd_entry& entry, line which, serving& into) noexcept {
  while (operation* const op = list_of(entry, which).front()) {
    const tried now = attempt_at(entry, *op);
    if (now.how == tried::outcome::waits) return;
    take_out(entry, *op);
    settle(*op, now, into);
    if (entry.kind == interest::ever && (entry.may_try & direction_of(which)) == 0) return;
  }
}

void epoll_driver::serve_watchers(fd_entry& entry, serving& into) noexcept {
  for (operation& op : entry.watchers) {
    // What else a splice needs may be in another entry, so it is tried when this one is let go.
    const tried now =
        op.code == op_code::splice ? tried{.how = tried::outcome::blocks} : attempt_at(entry, op);
    if (now.how == tried::outcome::waits) continue;
    take_out(entry, op);
    settle(op, now, into);
  }
}

// Taken out of its entry: it has ended, or has to go on elsewhere.
void epoll_driver::settle(operation& op, const tried& how, serving& into) noexcept {
  const bool ended = how.how == tried::outcome::ended;
  if (ended) op.result = how.result;
  op.at = ended ? place::nowhere : place::queued;
  (ended ? into.served : into.again).push_back(op);
}

}  // namespace skua::inline SKUA_ABI

// src/process/signal_table.cpp: the handler, and the list that it walks without a lock.
#include "process/signal_table.hpp"

#include "skua/base/check.hpp"

#include <unistd.h>

#include <bit>
#include <cerrno>
#include <thread>

namespace skua::inline SKUA_ABI {
namespace {

constinit signal_table the_table;

/// Those that tell a thread of a fault of its own: whoever returns from a handler faults again.
bool is_fault(int signal) noexcept {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
}

}  // namespace

// --- a listener

void signal_listener::tell(int signal) noexcept {
  came_.fetch_or(bit_of(signal));
  const std::uint64_t one = 1;
  // It fails if the counter is full: then it is readable, which is all that counts.
  [[maybe_unused]] const ssize_t wrote = ::write(event_.get(), &one, sizeof one);
}

int signal_listener::take() noexcept {
  const signal_bits now = came_.load();
  if (now == 0) return 0;
  const int signal = std::countr_zero(now) + 1;
  came_.fetch_and(~bit_of(signal));
  return signal;
}

// --- the handler

signal_table& signal_table::of_process() noexcept {
  return the_table;
}

void signal_table::handle(int signal, siginfo_t* about, void* where) {
  const int error = errno;
  signal_table& table = the_table;
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  // A forked child has our handlers, but its signals are not ours, and the counters are shared.
  if (::getpid() != table.owner_.load())
    table.raise_again(signal, table.before(signal));
  else if ((table.end_at_next_.load() & bit_of(signal)) != 0)
    table.raise_again(signal, usual);
  else
    table.tell_all(signal);
  errno = error;
  table.pass_on(signal, about, where);
  errno = error;
}

void signal_table::tell_all(int signal) noexcept {
  ++handlers_running_;
  for (signal_listener* one = first_.load(); one != nullptr; one = one->next_.load()) {
    if ((one->which_ & bit_of(signal)) == 0) continue;
    one->tell(signal);
    if (one->then_ == signal_listener::at_next::ends) end_at_next_ |= one->which_;
  }
  --handlers_running_;
}

void signal_table::pass_on(int signal, siginfo_t* about, void* where) const noexcept {
  if (::getpid() != owner_.load()) return;  // it is raised again
  const struct sigaction& earlier = before(signal);
  if ((earlier.sa_flags & SA_SIGINFO) != 0)
    earlier.sa_sigaction(signal, about, where);
  else if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN)
    earlier.sa_handler(signal);
}

const struct sigaction& signal_table::before(int signal) const noexcept {
  // The kernel calls us after it was told to; this says so to the language, too.
  static_cast<void>(noted_.load());
  return before_[signal - 1];
}

// It is blocked while its handler runs, and comes when that has returned.
void signal_table::raise_again(int signal, const struct sigaction& with) const noexcept {
  ::sigaction(signal, &with, nullptr);
  ::raise(signal);
}

// --- who listens

int signal_table::add(signal_listener& who) noexcept {
  const std::lock_guard hold(mutex_);
  begin_anew_if_forked();
  who.next_ = first_.load();
  first_ = &who;
  end_at_next_ &= ~who.which_;  // there is somebody again who wants to hear of it
  return install(who.which_);
}

int signal_table::install(signal_bits which) noexcept {
  for (signal_bits left = which & ~installed_.load(); left != 0; left &= left - 1)
    if (const int error = install_one(std::countr_zero(left) + 1); error != 0) return error;
  return 0;
}

int signal_table::install_one(int signal) noexcept {
  struct sigaction now{};
  if (is_fault(signal)) return EINVAL;
  if (::sigaction(signal, nullptr, &now) != 0) return errno;
  const bool ours = (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == handle;  // by a fork
  if (!ours) before_[signal - 1] = now;
  noted_ |= bit_of(signal);
  struct sigaction next{};
  next.sa_sigaction = handle;
  next.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigemptyset(&next.sa_mask);
  if (::sigaction(signal, &next, nullptr) != 0) return errno;
  installed_ |= bit_of(signal);
  return 0;
}

// The listeners that were copied along are those of the parent.
void signal_table::begin_anew_if_forked() noexcept {
  const std::int32_t self = ::getpid();
  if (owner_.load() == self) return;
  first_ = nullptr;
  retired_ = nullptr;
  handlers_running_ = 0;
  installed_ = 0;
  end_at_next_ = 0;
  owner_ = self;
}

void signal_table::remove(signal_listener& who) noexcept {
  const std::lock_guard hold(mutex_);
  if (owner_.load() == ::getpid()) {
    std::atomic<signal_listener*>* link = &first_;
    while (link->load() != nullptr && link->load() != &who) link = &link->load()->next_;
    if (link->load() == &who) *link = who.next_.load();
  }
  retire(who);
}

// A handler that began after `who` was taken out does not find it. So if none runs now, none has
// it. One that interrupts us here has ended when we go on, and one on another thread is about to
// end: most often it is what made the task go on that now listens no more. If that thread does not
// come to it, the next to be removed takes this one along.
void signal_table::retire(signal_listener& who) noexcept {
  constexpr int patience = 1'000;
  who.next_retired_ = retired_;
  retired_ = &who;
  const bool shared = owner_.load() == ::getpid();
  for (int i = 0; shared && handlers_running_.load() != 0; ++i) {
    if (i == patience) return;
    std::this_thread::yield();
  }
  while (retired_ != nullptr) delete std::exchange(retired_, retired_->next_retired_);
}

}  // namespace skua::inline SKUA_ABI

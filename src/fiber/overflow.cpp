// src/fiber/overflow.cpp: the handler of SIGSEGV that explain_overflows() sets.
#include "skua/fiber/overflow.hpp"

#include "fiber/running.hpp"
#include "fiber/signal_stack.hpp"
#include "skua/base/error.hpp"
#include "skua/fiber/own_stack.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <system_error>

namespace skua::inline SKUA_ABI::fiber {
namespace {

struct sigaction before{};  // written before the handler is set

/// A line that is put together where nothing may be allocated.
class short_line {
public:
  short_line& add(std::string_view text) noexcept {
    length_ += text.copy(text_.data() + length_, text_.size() - length_);
    return *this;
  }
  short_line& add(std::size_t number) noexcept {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return add({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  void write() const noexcept {
    const ssize_t lost = ::write(STDERR_FILENO, text_.data(), length_);
    static_cast<void>(lost);
  }

private:
  std::array<char, 512> text_{};
  std::size_t length_ = 0;
};

void explain(const own_stack& whose) noexcept {
  const options& settings = whose.settings();
  short_line text;
  text.add("skua: fiber ");
  if (!settings.name().empty()) text.add("'").add(settings.name()).add("' ");
  text.add("of ").add(settings.where().file_name()).add(":").add(settings.where().line());
  text.add(" has overflowed its stack of ").add(whose.memory().size);
  text.add(" bytes; fiber::options().stack_size() gives it more\n").write();
}

// As if we were not there.
void pass_on(int signal, siginfo_t* info, void* state) noexcept {
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, state);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    return before.sa_handler(signal);
  const bool was_sent = info->si_code <= 0;  // by kill(2) or the like
  if (was_sent && before.sa_handler == SIG_IGN) return;
  struct sigaction none{};
  none.sa_handler = SIG_DFL;
  ::sigaction(signal, &none, nullptr);
  // Otherwise the same instruction faults again, and ends the process there.
  if (was_sent) ::raise(signal);
}

void on_fault(int signal, siginfo_t* info, void* state) noexcept {
  const int error = errno;
  const own_stack* const on = running_here();
  if (on != nullptr && info->si_code > 0 && on->memory().guards(info->si_addr)) explain(*on);
  errno = error;
  pass_on(signal, info, state);
}

}  // namespace

result<void> explain_overflows() noexcept {
  static constinit std::atomic<bool> begun{false};
  // order: none; who comes second has nothing to read.
  if (begun.exchange(true, std::memory_order_relaxed)) return {};
  struct sigaction mine{};
  mine.sa_sigaction = on_fault;
  mine.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&mine.sa_mask);
  const auto refused = [] {
    const int error = errno;
    // order: none, as above.
    begun.store(false, std::memory_order_relaxed);
    return fail(std::error_code(error, std::generic_category()));
  };
  if (::sigaction(SIGSEGV, nullptr, &before) != 0) return refused();
  if (::sigaction(SIGSEGV, &mine, nullptr) != 0) return refused();
  // order: none; a thread that sees it late gets its signal stack late.
  overflows_are_explained.store(true, std::memory_order_relaxed);
  return {};
}

}  // namespace skua::inline SKUA_ABI::fiber

// src/fiber/own_stack.cpp: switch to the function, switch back when it awaits, await for it.
#include "skua/fiber/own_stack.hpp"

#include "fiber/running.hpp"
#include "fiber/signal_stack.hpp"
#include "fiber/switch_record.hpp"
#include "skua/base/check.hpp"
#include "skua/fiber/cancelled.hpp"

#include <boost/context/detail/fcontext.hpp>

#include <cerrno>
#include <utility>

namespace skua::inline SKUA_ABI::fiber {
namespace {

constexpr std::size_t record_alignment = 64;
constexpr std::size_t record_size =
    (sizeof(switch_record) + record_alignment - 1) / record_alignment * record_alignment;

std::size_t size_for(const options& how) noexcept {
  return switch_notes::needed() ? 4 * how.stack_size() : how.stack_size();
}

stack_pool& pool_for(const options& how) {
  return how.pool() != nullptr ? *how.pool() : stack_pool::of_process();
}

}  // namespace

own_stack::own_stack(const options& how, context& of, body runs, void* what)
    : settings_(how),
      pool_(pool_for(how)),
      memory_(pool_.take(size_for(how))),
      chain_(of),
      runs_(runs),
      what_(what),
      record_(::new(static_cast<void*>(memory_.top() - record_size))
                  switch_record(memory_.lowest, memory_.size)) {}

own_stack::~own_stack() {
  check(ended_ || !begun_, "a fiber's stack outlives its function");
  record_->~switch_record();
  pool_.give_back(memory_);
}

own_stack* own_stack::running() noexcept {
  return running_here();
}

// Where the fiber begins, and where it never comes back from: the switch to here has no return.
struct own_stack::entry {
  static void begin(boost::context::detail::transfer_t from) noexcept {
    own_stack& self = *static_cast<own_stack*>(from.data);
    self.record_->other = from.fctx;
    self.record_->notes.after_coming_in();
    self.runs_(self.what_);
    self.ended_ = true;
    self.record_->notes.before_going_out(true);
    boost::context::detail::jump_fcontext(self.record_->other, nullptr);
    __builtin_unreachable();
  }
};

// One turn of the function. The thread is the same before and after: what belongs to a thread is
// exchanged here, on the outer side, and nowhere else.
void own_stack::switch_in() noexcept {
  // order: none; see explain_overflows().
  if (overflows_are_explained.load(std::memory_order_relaxed)) have_signal_stack();
  own_stack*& here = running_here();
  own_stack* const outer = std::exchange(here, this);
  const int error = std::exchange(errno, record_->error);
  void* const exceptions = exceptions_under_way::of_thread();
  record_->exceptions.swap_with(exceptions);
  if (!begun_) {
    begun_ = true;
    record_->other = boost::context::detail::make_fcontext(
        memory_.top() - record_size, memory_.size - record_size, entry::begin);
  }
  record_->notes.before_going_in();
  record_->other = boost::context::detail::jump_fcontext(record_->other, this).fctx;
  record_->notes.after_coming_out();
  record_->exceptions.swap_with(exceptions);
  record_->error = std::exchange(errno, error);
  here = outer;
}

// Returns on the thread that next switches in. Never inlined, so that nothing of this thread is
// remembered across it.
[[gnu::noinline]] void own_stack::wait(const pending_await& what) {
  awaits_ = &what;
  record_->notes.before_going_out(false);
  record_->other = boost::context::detail::jump_fcontext(record_->other, nullptr).fctx;
  record_->notes.after_coming_in();
  asm volatile("" ::: "memory");
  if (std::exchange(raises_, false)) throw cancelled();
}

void own_stack::raise_if_cancelled() const {
  if (is_cancelled_ && chain_.stop_requested()) [[unlikely]]
    throw cancelled();
}

/// Awaited by the coroutine in the fiber's place.
class fiber_turn {
public:
  using skua_awaiter_tag = void;

  explicit fiber_turn(own_stack& of) noexcept : of_(of) {}
  bool await_ready() const noexcept {
    of_.switch_in();
    return of_.ended_;
  }
  template <typename Promise>
  pending_await::answer await_suspend(std::coroutine_handle<Promise> self) const {
    return of_.awaits_->suspend(to_frame(self));
  }
  void await_resume() const noexcept {}

private:
  own_stack& of_;
};

task<> own_stack::turns() {
  while (!ended_) co_await fiber_turn(*this);
}

}  // namespace skua::inline SKUA_ABI::fiber

// skua/interop/callback.hpp: what from_callback() gives to code that calls back when it is done.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/leaf.hpp"
#include "skua/coro/outcome.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// What the task that waits and the callbacks share: who was first, and who is left.
class [[gnu::visibility("default")]] callback_state {
public:
  callback_state() = default;
  callback_state(const callback_state&) = delete;
  callback_state& operator=(const callback_state&) = delete;

  enum class claimed : unsigned char { first, abandoned, again };
  /// The right to give the result and complete the wait.
  [[nodiscard]] claimed claim() noexcept;
  /// By the task: it goes on without; false if somebody has claimed the result.
  [[nodiscard]] bool abandon() noexcept;

  void add_callback() noexcept;
  /// The last one completes the wait with an exception, if it was never called.
  void drop_callback() noexcept;
  /// By the task, once.
  void drop_task() noexcept { drop(); }

  leaf* waiting = nullptr;  // written before there is a callback

protected:
  virtual ~callback_state() = default;

private:
  virtual void set_exception(std::exception_ptr thrown) noexcept = 0;
  void drop() noexcept;

  enum class word : unsigned char { open, claimed, abandoned };
  std::atomic<word> word_{word::open};
  std::atomic<std::uint32_t> callbacks_{0};
  std::atomic<std::uint32_t> owners_{1};  // the task, and all callbacks together
};

template <typename T>
class callback_result final : public callback_state {
public:
  outcome<T> result;

private:
  ~callback_result() override = default;
  void set_exception(std::exception_ptr thrown) noexcept override {
    result.set_exception(std::move(thrown));
  }
};

/// To be called with the result, once, from any thread, at any time: before the function that got
/// it has returned, or long after the task that waited for it was stopped (then it does nothing, if
/// that task was allowed to go on without). Copies are the same callback. A second call ends the
/// program. If all copies are dropped uncalled, whoever waits gets a std::runtime_error.
///
/// A call takes some instructions and wakes the task; it does not run it.
template <typename T = void>
class callback {
public:
  /// Made by from_callback() and its kin.
  explicit callback(callback_result<T>& of) noexcept : of_(&of) { of_->add_callback(); }
  /// One of two, either of which may be called.
  callback(const callback& from) noexcept : of_(from.of_) {
    if (of_ != nullptr) of_->add_callback();
  }
  /// `from` can only be assigned to or destroyed.
  callback(callback&& from) noexcept : of_(std::exchange(from.of_, nullptr)) {}
  /// The one that it was is dropped.
  callback& operator=(callback from) noexcept {
    std::swap(of_, from.of_);
    return *this;
  }
  ~callback() {
    if (of_ != nullptr) of_->drop_callback();
  }

  /// With what a T is made of. If that throws, the task gets the exception.
  template <typename... Args>
  void operator()(Args&&... args) const noexcept {
    static_assert(std::is_void_v<T> ? sizeof...(Args) == 0 : true, "a callback<> takes nothing");
    if (!may_answer()) return;
    try {
      of_->result.set_value(std::forward<Args>(args)...);
    } catch (...) {
      of_->result.set_exception(std::current_exception());
    }
    of_->waiting->complete();
  }

  /// Lets the task that waits throw `thrown`.
  void fail(std::exception_ptr thrown) const noexcept {
    if (!may_answer()) return;
    of_->result.set_exception(std::move(thrown));
    of_->waiting->complete();
  }

  /// For interfaces that carry nothing but a pointer. Each goes back by from_pointer(), once.
  [[nodiscard]] void* to_pointer() && noexcept { return std::exchange(of_, nullptr); }
  /// What to_pointer() gave, as a callback again. Once for each.
  [[nodiscard]] static callback from_pointer(void* carried) noexcept {
    callback made;
    made.of_ = static_cast<callback_result<T>*>(carried);
    return made;
  }

private:
  callback() = default;
  [[nodiscard]] bool may_answer() const noexcept {
    check(of_ != nullptr, "a callback that was moved from is not called");
    const auto how = of_->claim();
    check(how != callback_state::claimed::again, "a callback of from_callback() is called once");
    return how == callback_state::claimed::first;
  }

  callback_result<T>* of_ = nullptr;
};

}  // namespace skua::inline SKUA_ABI

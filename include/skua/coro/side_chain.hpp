// skua/coro/side_chain.hpp: a chain beside that of its task, in the task's frame, with its result.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/context.hpp"
#include "skua/coro/outcome.hpp"
#include "skua/coro/task.hpp"

#include <exception>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Lives in the frame of a combinator; if it was started, until it has ended.
class [[gnu::visibility("default")]] side_chain : public context {
public:
  /// What it is beside of; that may be a side chain itself.
  [[nodiscard]] virtual context& task() const noexcept = 0;

  // After its end.

  /// It was stopped, or has thrown.
  [[nodiscard]] virtual bool failed() const noexcept = 0;
  /// What it has thrown, or null.
  [[nodiscard]] virtual std::exception_ptr exception() const noexcept = 0;

protected:
  side_chain(run_function how, executor& home, frame_handle root) noexcept : context(how, home) {
    is_side_chain = true;
    hold(root);
  }
  ~side_chain() {
    if (result_ != nullptr) result_.destroy();
  }

  /// In the run function, after drive(): keeps the result, if it has ended.
  [[nodiscard]] bool has_ended(progress how) noexcept {
    if (how == progress::parked) return false;
    if (how == progress::returned) result_ = release_root();
    return true;
  }
  /// Its root, with its result in it; null if it was stopped. After its end.
  [[nodiscard]] frame_handle result_frame() const noexcept { return result_; }

private:
  frame_handle result_;
};

/// What a chain is made of: the group that it belongs to, and what it runs.
template <typename Group, typename T>
struct chain_seed {
  Group& of;
  task<T>& what;
};

/// A Chain, which is a side_chain, that gives a T.
template <typename Chain, typename T>
class chain_of final : public Chain {
public:
  // Not explicit, so that a tuple can make its elements in place.
  template <typename Group>
  chain_of(chain_seed<Group, T> from) noexcept : Chain(from.of, to_frame(from.what.release())) {}

  /// After its end, once.
  [[nodiscard]] outcome<T> take() {
    if (this->result_frame() == nullptr) return {};
    return std::move(result());
  }
  [[nodiscard]] bool failed() const noexcept override {
    return this->result_frame() == nullptr || !result().has_value();
  }
  [[nodiscard]] std::exception_ptr exception() const noexcept override {
    return this->result_frame() == nullptr ? nullptr : result().exception();
  }

private:
  outcome<T>& result() const noexcept {
    return task<T>::handle::from_address(this->result_frame().address()).promise().result();
  }
};

}  // namespace skua::inline SKUA_ABI

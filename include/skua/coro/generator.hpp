// skua/coro/generator.hpp: a lazy sequence written as a coroutine, iterated with a plain for loop.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/coro/recycler.hpp"
#include "skua/coro/yielded_copy.hpp"

#include <coroutine>
#include <cstddef>
#include <exception>
#include <iterator>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Runs from one co_yield to the next as it is iterated, on the iterating thread; once, front to
/// back. An exception in the body leaves ++ or begin(). Dropping it destroys the body's locals
/// where it stands. Gives a T&& of what was yielded (a copy, if that was an lvalue), or T if T is a
/// reference. The body cannot co_await: that is async_generator.
template <typename T>
class [[nodiscard("a generator does nothing until it is iterated")]] generator {
public:
  class promise_type {
  public:
    generator get_return_object() noexcept {
      return generator(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    // Kept, and thrown by whoever resumes: if this function threw, clang 19 would destroy the
    // locals of a body that cannot return (an endless loop) a second time with the frame.
    void unhandled_exception() noexcept {
      if (given_up_) std::terminate();  // by a destructor, while the frame is destroyed midway
      thrown_ = std::current_exception();
    }
    void give_up() noexcept { given_up_ = true; }

    std::suspend_always yield_value(T&& value) noexcept {
      show(value);
      return {};
    }
    auto yield_value(const T& value)
      requires(!std::is_reference_v<T>)
    {
      return yielded_copy<T, std::suspend_always>(value);
    }
    void show(std::remove_reference_t<T>& value) noexcept { shown_ = std::addressof(value); }
    std::remove_reference_t<T>& shown() const noexcept { return *shown_; }
    std::exception_ptr take_exception() noexcept { return std::exchange(thrown_, nullptr); }

    template <typename U>
    void await_transform(U&&) {
      static_assert(!std::is_same_v<U, U>,
                    "a skua::generator cannot co_await; make it a skua::async_generator");
    }

    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* frame, std::size_t size) noexcept { free_frame(frame, size); }

  private:
    std::remove_reference_t<T>* shown_ = nullptr;
    std::exception_ptr thrown_;
    bool given_up_ = false;
  };

  /// An input iterator, which moves and cannot be copied: there is one way through a sequence.
  class iterator {
  public:
    using iterator_concept = std::input_iterator_tag;  ///< each value is seen once
    /// As iterators have it; nobody can tell a distance here.
    using difference_type = std::ptrdiff_t;
    using value_type = std::remove_cvref_t<T>;  ///< what is yielded, without const and references
    using reference = T&&;  ///< what `*` gives: a yielded value may be moved from

    iterator() = default;
    /// Use generator::begin().
    explicit iterator(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
    /// `from` is at the end then.
    iterator(iterator&& from) noexcept : frame_(std::exchange(from.frame_, {})) {}
    /// `from` is at the end then.
    iterator& operator=(iterator&& from) noexcept {
      frame_ = std::exchange(from.frame_, {});
      return *this;
    }

    /// The value at which the body stands. Not at the end: that ends the program, and says so.
    reference operator*() const noexcept {
      check(frame_ && !frame_.done(), "an iterator is dereferenced before the end");
      return static_cast<T&&>(frame_.promise().shown());
    }
    /// Runs the body on to the next value, and throws what it throws. Not at the end, likewise.
    iterator& operator++() {
      check(frame_ && !frame_.done(), "a generator is not advanced past its end");
      advance(frame_);
      return *this;
    }
    /// The same; gives nothing, since the former value is gone.
    void operator++(int) { ++*this; }
    /// The body has ended, or has thrown.
    friend bool operator==(const iterator& at, std::default_sentinel_t) noexcept {
      return !at.frame_ || at.frame_.done();
    }

  private:
    std::coroutine_handle<promise_type> frame_;
  };

  /// `from` is empty: it can only be assigned to or destroyed.
  generator(generator&& from) noexcept
      : frame_(std::exchange(from.frame_, {})), begun_(from.begun_) {}
  /// The two change places.
  generator& operator=(generator&& from) noexcept {
    std::swap(frame_, from.frame_);
    std::swap(begun_, from.begun_);
    return *this;
  }
  ~generator() {
    if (!frame_) return;
    frame_.promise().give_up();
    frame_.destroy();
  }

  /// Runs the body up to its first co_yield. Once.
  iterator begin() {
    check(frame_ && !begun_, "a generator is iterated once; this one has begun or was moved from");
    begun_ = true;
    advance(frame_);
    return iterator(frame_);
  }
  /// What an iterator is compared with.
  std::default_sentinel_t end() const noexcept { return {}; }

private:
  explicit generator(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

  /// Runs the body up to its next co_yield or its end.
  static void advance(std::coroutine_handle<promise_type> frame) {
    frame.resume();
    if (!frame.done()) [[likely]]
      return;
    if (auto thrown = frame.promise().take_exception()) std::rethrow_exception(std::move(thrown));
  }

  std::coroutine_handle<promise_type> frame_;
  bool begun_ = false;
};

}  // namespace skua::inline SKUA_ABI

// skua/coro/frame_allocator.hpp: tasks whose frames come from an allocator of the caller's.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/task.hpp"

#include <coroutine>
#include <cstddef>
#include <new>
#include <scoped_allocator>  // allocator_traits and allocator_arg_t, at a quarter of <memory>
#include <type_traits>
#include <utility>

namespace skua::inline SKUA_ABI {

/// Stands for the object of a function that has none.
struct no_object {};

/// A task's promise whose frame ends with a copy of the allocator it came from. A type of its own,
/// chosen by the coroutine's parameters, so that ordinary frames carry nothing for it.
///
/// Self and Args are the class's, not those of operator new, and the memory is laundered: g++ 12
/// takes a template `operator new`, or one it has inlined, for no match of `operator delete`.
template <typename T, typename Allocator, typename Self, typename... Args>
class allocated_promise : public task_promise<T> {
  struct alignas(2 * sizeof(void*)) unit {
    std::byte bytes[2 * sizeof(void*)];
  };
  using unit_allocator = typename std::allocator_traits<Allocator>::template rebind_alloc<unit>;
  using traits = std::allocator_traits<unit_allocator>;
  static_assert(alignof(unit_allocator) <= alignof(unit), "an over-aligned allocator is refused");
  static_assert(std::is_same_v<typename traits::pointer, unit*>, "fancy pointers are refused");

  static constexpr std::size_t units_for(std::size_t size) noexcept {
    return (size + sizeof(unit) - 1) / sizeof(unit);
  }
  static constexpr std::size_t allocator_units = units_for(sizeof(unit_allocator));

public:
  task<T> get_return_object() noexcept { return task_promise<T>::get_return_object(); }

  // Functions without an object, and lambdas compiled by clang.
  static void* operator new(std::size_t size, std::allocator_arg_t, const Allocator& from,
                            const std::remove_reference_t<Args>&...) {
    return take(size, from);
  }
  static void* operator new(std::size_t size, const std::remove_reference_t<Self>&,
                            std::allocator_arg_t, const Allocator& from,
                            const std::remove_reference_t<Args>&...) {
    return take(size, from);
  }
  static void operator delete(void* frame, std::size_t size) noexcept {
    const std::size_t units = units_for(size);
    unit* const memory = static_cast<unit*>(frame);
    auto* const kept = std::launder(reinterpret_cast<unit_allocator*>(memory + units));
    unit_allocator allocator(std::move(*kept));
    kept->~unit_allocator();
    traits::deallocate(allocator, memory, units + allocator_units);
  }

private:
  static void* take(std::size_t size, const Allocator& from) {
    unit_allocator allocator(from);
    const std::size_t units = units_for(size);
    unit* const memory = std::launder(traits::allocate(allocator, units + allocator_units));
    ::new (static_cast<void*>(memory + units)) unit_allocator(std::move(allocator));
    return memory;
  }
};

/// std::allocator_arg_t, as a parameter of a coroutine has it.
template <typename T>
concept allocator_tag = std::is_same_v<std::remove_cvref_t<T>, std::allocator_arg_t>;

}  // namespace skua::inline SKUA_ABI

/// A coroutine that returns skua::task and takes (std::allocator_arg_t, allocator, ...) as its
/// first parameters allocates its frame there. The allocator is copied into the frame.
template <typename T, skua::allocator_tag Tag, typename Allocator, typename... Args>
struct std::coroutine_traits<skua::task<T>, Tag, Allocator, Args...> {
  using promise_type =
      skua::allocated_promise<T, std::remove_cvref_t<Allocator>, skua::no_object, Args...>;
};

/// The same for member functions and lambdas, whose object comes first.
template <typename T, typename Self, skua::allocator_tag Tag, typename Allocator, typename... Args>
  requires(!skua::allocator_tag<Self>)
struct std::coroutine_traits<skua::task<T>, Self, Tag, Allocator, Args...> {
  using promise_type = skua::allocated_promise<T, std::remove_cvref_t<Allocator>, Self, Args...>;
};

// tests/issues/asio_1284_test.cpp: the kernel was told an address on a stack that was gone.
//
// Asio 1284: an operation object lay on the stack of the function that prepared it; its address
// went to the kernel as user_data, the object was moved to its place afterwards, and the completion
// came back to the dead address.
//
// Here an operation is filled in when it is awaited (io_wait::start()), where it lies then; until
// then nobody knows it. It can be neither copied nor moved (leaf), so that it is returned in place.
#include "skua/skua.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"
#include "support/watchdog.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace {

using namespace std::chrono_literals;
namespace io = skua::io;
using skua::io_operation;
using skua::spawn;
using skua::task;
using skua_test::bytes_of;
using skua_test::pipe_pair;
using skua_test::room;
using skua_test::watchdog;

template <typename T>
constexpr bool stays_where_it_is =
    !std::is_copy_constructible_v<T> && !std::is_move_constructible_v<T> &&
    !std::is_copy_assignable_v<T> && !std::is_move_assignable_v<T>;
static_assert(stays_where_it_is<io_operation<void>>);
static_assert(stays_where_it_is<io_operation<std::size_t>>);
static_assert(stays_where_it_is<io_operation<skua::unique_fd>>);
static_assert(stays_where_it_is<skua::sleep_wait>);
static_assert(stays_where_it_is<skua::operation>);

class asio_1284 : public skua_test::for_each_kind {
protected:
  watchdog hang{"operations that were made elsewhere"};
};
INSTANTIATE_TEST_SUITE_P(every, asio_1284, skua_test::every_kind(), skua_test::name_of_kind);

/// Overwrites what was on the stack below.
[[gnu::noinline]] void scribble() {
  std::array<char, 4096> over;
  over.fill(0x5a);
  asm volatile("" : : "r"(over.data()) : "memory");  // as if somebody read it
}

/// Two functions deep, so that it passes through returns.
[[gnu::noinline]] io_operation<std::size_t> made_below(int fd, std::span<std::byte> into) {
  return io::read(fd, into);
}
[[gnu::noinline]] io_operation<std::size_t> made_elsewhere(int fd, std::span<std::byte> into) {
  return made_below(fd, into);
}

task<> writes_later(int fd, std::string_view text) {
  co_await skua::sleep(1ms);
  EXPECT_EQ((co_await io::write(fd, bytes_of(text))).value_or(0), text.size());
}

/// The operation is made in one place, and awaited in another, later.
task<> awaits_what_was_made_before() {
  const pipe_pair pipe;
  room<8> into;
  auto reads = made_elsewhere(pipe.out(), into.span());
  scribble();
  for (int i = 0; i < 10; ++i) co_await skua::yield();
  auto writer = spawn(writes_later(pipe.in(), "later"));
  scribble();
  EXPECT_EQ(into.text(co_await reads), "later");
  co_await std::move(writer);
}

TEST_P(asio_1284, an_operation_made_in_one_function_is_awaited_in_another) {
  auto rt = start();
  const watchdog::registration watched(hang, rt.get_handle());
  for (int i = 0; i < 20; ++i) rt.block_on(awaits_what_was_made_before());
}

/// On the heap, where it was returned to.
struct held {
  held(int fd, std::span<std::byte> into) : op(made_elsewhere(fd, into)) {}
  io_operation<std::size_t> op;
};

/// In a task that did not run yet when it was made, and may run on another worker.
task<> awaits(std::unique_ptr<held> what, std::size_t& got) {
  got = (co_await what->op).value_or(0);
}

task<> awaits_on_the_heap() {
  const pipe_pair pipe;
  room<8> into;
  std::size_t got = 0;
  auto op = std::make_unique<held>(pipe.out(), into.span());
  auto reader = spawn(awaits(std::move(op), got));
  scribble();
  auto writer = spawn(writes_later(pipe.in(), "heap"));
  co_await std::move(reader);
  co_await std::move(writer);
  EXPECT_EQ(into.text(got), "heap");
}

TEST_P(asio_1284, an_operation_made_by_one_task_is_awaited_by_another) {
  auto rt = start();
  const watchdog::registration watched(hang, rt.get_handle());
  for (int i = 0; i < 20; ++i) rt.block_on(awaits_on_the_heap());
}

/// A plain function gives the operation on, with a limit of time, as a reference.
task<> awaits_with_a_limit(std::chrono::milliseconds limit) {
  const pipe_pair pipe;
  room<8> into;
  auto reads = made_elsewhere(pipe.out(), into.span());
  auto& same = skua::timeout(limit, reads);
  EXPECT_EQ(&same, &reads);
  scribble();
  EXPECT_EQ((co_await same).error(), std::errc::timed_out);
  auto late = made_elsewhere(pipe.out(), into.span());
  auto writer = spawn(writes_later(pipe.in(), "after"));
  EXPECT_EQ(into.text(co_await late), "after");
  co_await std::move(writer);
}

TEST_P(asio_1284, an_operation_that_timed_out_is_the_one_that_was_made) {
  auto rt = start();
  const watchdog::registration watched(hang, rt.get_handle());
  for (int i = 0; i < 5; ++i) rt.block_on(awaits_with_a_limit(i * 1ms));
}

task<> makes_and_awaits_nothing() {
  const pipe_pair pipe;
  room<8> into;
  {
    const auto never = made_elsewhere(pipe.out(), into.span());
  }
  scribble();
  EXPECT_EQ((co_await io::write(pipe.in(), bytes_of("kept"))).value_or(0), 4U);
  EXPECT_EQ(into.text(co_await io::read(pipe.out(), into.span())), "kept");
}

TEST_P(asio_1284, an_operation_that_nobody_awaits_is_unknown_to_the_kernel) {
  auto rt = start();
  const watchdog::registration watched(hang, rt.get_handle());
  for (int i = 0; i < 5; ++i) rt.block_on(makes_and_awaits_nothing());
}

}  // namespace

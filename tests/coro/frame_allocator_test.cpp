// tests/coro/frame_allocator_test.cpp: frames come from the caller's allocator and go back to it.
#include "skua/coro/frame_allocator.hpp"

#include "skua/coro/or_return.hpp"
#include "skua/coro/sync_wait.hpp"
#include "skua/coro/task.hpp"
#include "support/driven.hpp"
#include "support/gate.hpp"
#include "support/manual_executor.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <stdexcept>
#include <utility>

namespace {

using skua::sync_wait;
using skua::task;
using skua_test::driven;
using skua_test::gate;
using skua_test::manual_executor;

/// What an allocator did.
struct tally {
  int allocations = 0;
  int deallocations = 0;
  std::size_t bytes_out = 0;
  std::size_t bytes_back = 0;
  bool empty = false;  ///< Refuses.

  [[nodiscard]] bool even() const {
    return allocations == deallocations && bytes_out == bytes_back;
  }
};

/// Stateful, and without a default constructor.
template <typename T>
class counting {
public:
  using value_type = T;

  explicit counting(tally& into) noexcept : into_(&into) {}
  template <typename U>
  explicit counting(const counting<U>& from) noexcept : into_(from.into()) {}

  T* allocate(std::size_t count) {
    if (into_->empty) throw std::bad_alloc();
    T* const memory = std::allocator<T>().allocate(count);
    ++into_->allocations;
    into_->bytes_out += count * sizeof(T);
    return memory;
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    ++into_->deallocations;
    into_->bytes_back += count * sizeof(T);
    std::allocator<T>().deallocate(memory, count);
  }

  [[nodiscard]] tally* into() const noexcept { return into_; }
  friend bool operator==(const counting&, const counting&) = default;

private:
  tally* into_;
};
using counting_bytes = counting<std::byte>;

/// Can be moved into a frame, or not.
class moves_if {
public:
  explicit moves_if(bool can) : can_(can) {}
  // NOLINTNEXTLINE(bugprone-exception-escape): it is to throw
  moves_if(moves_if&& from) : can_(from.can_) {
    if (!can_) throw std::runtime_error("cannot move");
  }
  moves_if& operator=(const moves_if&) = delete;
  ~moves_if() = default;

private:
  bool can_;
};

// Not inlined: clang leaves out the allocation of a frame whose whole life it sees.
[[gnu::noinline]] task<int> twice(std::allocator_arg_t, counting_bytes, int n) {
  co_return n * 2;
}
[[gnu::noinline]] task<> by_reference(const std::allocator_arg_t&, const counting_bytes&, const int,
                                      int&) {
  co_return;
}
[[gnu::noinline]] task<int> waits(std::allocator_arg_t, counting_bytes, gate& at) {
  co_return co_await gate::wait(at);
}
[[gnu::noinline]] task<int> keeps(std::allocator_arg_t, counting_bytes, std::shared_ptr<int> held) {
  co_return *held;
}
[[gnu::noinline]] task<int> takes(std::allocator_arg_t, counting_bytes, moves_if) {
  co_return 1;
}

class adder {
public:
  explicit adder(int to) : to_(to) {}
  task<int> add(std::allocator_arg_t, counting_bytes, int n) const { co_return to_ + n; }
  task<> raise(std::allocator_arg_t, counting_bytes, int by) {
    to_ += by;
    co_return;
  }
  [[nodiscard]] int to() const { return to_; }

private:
  int to_;
};

TEST(frame_allocator, serves_a_free_function) {
  tally used;
  EXPECT_EQ(sync_wait(twice(std::allocator_arg, counting_bytes(used), 21)), 42);
  EXPECT_EQ(used.allocations, 1);
  EXPECT_GT(used.bytes_out, sizeof(skua::promise_base));
  EXPECT_TRUE(used.even());
}

TEST(frame_allocator, serves_a_function_that_takes_references) {
  tally used;
  int number = 2;
  {
    const counting_bytes shared(used);
    sync_wait(by_reference(std::allocator_arg, shared, 1, number));
    auto outlives_the_allocator = by_reference(std::allocator_arg, counting_bytes(used), 1, number);
    EXPECT_EQ(used.deallocations, 1);
  }
  EXPECT_EQ(used.allocations, 2);
  EXPECT_TRUE(used.even());
}

TEST(frame_allocator, serves_member_functions) {
  tally used;
  adder two(2);
  EXPECT_EQ(sync_wait(std::as_const(two).add(std::allocator_arg, counting_bytes(used), 3)), 5);
  sync_wait(two.raise(std::allocator_arg, counting_bytes(used), 8));
  EXPECT_EQ(two.to(), 10);
  EXPECT_EQ(used.allocations, 2);
  EXPECT_TRUE(used.even());
}

TEST(frame_allocator, serves_lambdas) {
  tally used;
  auto plain = [](std::allocator_arg_t, counting_bytes, int n) -> task<int> { co_return n + 1; };
  EXPECT_EQ(sync_wait(plain(std::allocator_arg, counting_bytes(used), 1)), 2);
  int base = 10;
  auto capturing = [&](std::allocator_arg_t, counting_bytes) -> task<int> { co_return base; };
  EXPECT_EQ(sync_wait(capturing(std::allocator_arg, counting_bytes(used))), 10);
  EXPECT_EQ(used.allocations, 2);
  EXPECT_TRUE(used.even());
}

TEST(frame_allocator, leaves_other_tasks_alone) {
  tally used;
  auto holds_one = [](counting_bytes, int n) -> task<int> { co_return n; };
  EXPECT_EQ(sync_wait(holds_one(counting_bytes(used), 3)), 3);
  EXPECT_EQ(used.allocations, 0);
}

TEST(frame_allocator, serves_awaited_children) {
  tally used;
  auto parent = [&]() -> task<int> {
    int sum = 0;
    for (int i = 0; i < 10; ++i) {
      sum += co_await twice(std::allocator_arg, counting_bytes(used), i);
      EXPECT_TRUE(used.even()) << "a frame ends with its await";
    }
    co_return sum;
  };
  EXPECT_EQ(sync_wait(parent()), 90);
  EXPECT_EQ(used.allocations, 10);
}

TEST(frame_allocator, serves_polymorphic_allocators) {
  class watched final : public std::pmr::memory_resource {
  public:
    int live = 0;
    int served = 0;

  private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
      ++live;
      ++served;
      return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    }
    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
      --live;
      std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
    }
    [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
      return this == &other;
    }
  };
  auto task_of = [](std::allocator_arg_t, std::pmr::polymorphic_allocator<>, int n) -> task<int> {
    co_return n;
  };
  watched memory;
  EXPECT_EQ(sync_wait(task_of(std::allocator_arg, &memory, 6)), 6);
  EXPECT_EQ(memory.served, 1);
  EXPECT_EQ(memory.live, 0);

  std::pmr::monotonic_buffer_resource arena(&memory);
  EXPECT_EQ(sync_wait(task_of(std::allocator_arg, &arena, 7)), 7);
}

TEST(frame_allocator, serves_allocators_without_state) {
  auto task_of = [](std::allocator_arg_t, std::allocator<int>, int n) -> task<int> { co_return n; };
  EXPECT_EQ(sync_wait(task_of(std::allocator_arg, std::allocator<int>(), 6)), 6);
}

TEST(frame_allocator, lets_its_failure_leave_the_call) {
  tally used;
  used.empty = true;
  auto owned = std::make_shared<int>(1);
  EXPECT_THROW((void)keeps(std::allocator_arg, counting_bytes(used), owned), std::bad_alloc);
  EXPECT_EQ(owned.use_count(), 1);
  EXPECT_EQ(used.deallocations, 0);
}

TEST(frame_allocator, gets_the_frame_back_if_a_parameter_cannot_be_moved_into_it) {
  tally used;
  EXPECT_EQ(sync_wait(takes(std::allocator_arg, counting_bytes(used), moves_if(true))), 1);
  EXPECT_THROW((void)takes(std::allocator_arg, counting_bytes(used), moves_if(false)),
               std::runtime_error);
  EXPECT_EQ(used.allocations, 2);
  EXPECT_TRUE(used.even());
}

TEST(frame_allocator, gets_the_frame_of_a_dropped_task_back) {
  tally used;
  {
    auto first = twice(std::allocator_arg, counting_bytes(used), 1);
    auto second = std::move(first);
    first = twice(std::allocator_arg, counting_bytes(used), 2);
    EXPECT_EQ(used.allocations, 2);
    EXPECT_EQ(used.deallocations, 0);
    first = std::move(second);
    EXPECT_EQ(used.deallocations, 1);
  }
  EXPECT_TRUE(used.even());
}

TEST(frame_allocator, gets_the_frames_of_a_stopped_task_back) {
  manual_executor here;
  gate at;
  tally used;
  auto parent = [&](std::allocator_arg_t, counting_bytes with) -> task<int> {
    co_return co_await waits(std::allocator_arg, with, at);
  };
  driven<int> whole(here, parent(std::allocator_arg, counting_bytes(used)));
  here.run_ready();
  EXPECT_EQ(used.allocations, 2);
  EXPECT_EQ(used.deallocations, 0);
  whole.request_stop();
  here.run_ready();
  EXPECT_TRUE(whole.result().stopped());
  EXPECT_TRUE(used.even());
}

TEST(frame_allocator, serves_tasks_that_end_by_an_exception) {
  tally used;
  auto fails = [](std::allocator_arg_t, counting_bytes) -> task<int> {
    throw std::runtime_error("no answer");
    co_return 0;
  };
  EXPECT_THROW((void)sync_wait(fails(std::allocator_arg, counting_bytes(used))),
               std::runtime_error);
  EXPECT_TRUE(used.even());
}

TEST(frame_allocator, serves_tasks_that_use_or_return) {
  tally used;
  auto half = [](std::allocator_arg_t, counting_bytes, int n) -> task<skua::result<int>> {
    skua::result<int> given = n / 2;
    if (n % 2 != 0) given = std::unexpected(std::make_error_code(std::errc::invalid_argument));
    co_return co_await skua::or_return(std::move(given));
  };
  EXPECT_EQ(sync_wait(half(std::allocator_arg, counting_bytes(used), 8)).value(), 4);
  EXPECT_EQ(sync_wait(half(std::allocator_arg, counting_bytes(used), 7)).error(),
            std::errc::invalid_argument);
  EXPECT_TRUE(used.even());
}

}  // namespace

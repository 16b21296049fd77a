// tests/coro/forms.hpp: what the awaits in forms_test and clang_forms_test are made of.
#pragma once

#include "skua/coro/leaf.hpp"
#include "skua/coro/sync_wait.hpp"
#include "skua/coro/task.hpp"
#include "support/tracked.hpp"

#include <gtest/gtest.h>

#include <coroutine>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace skua_test {

using skua::task;

/// A leaf with something to destroy in it.
class ready_leaf final : public skua::leaf {
public:
  explicit ready_leaf(tracked held) : held_(std::move(held)) {}
  tracked await_resume() { return tracked(held_.name + "!"); }

private:
  void start() noexcept override { complete(); }
  skua::cancel_answer cancel() noexcept override { return skua::cancel_answer::pending; }
  tracked held_;
};

/// A foreign awaiter that is an aggregate, and one that has a constructor.
struct aggregate_awaiter {
  tracked held;
  bool await_ready() const { return false; }
  bool await_suspend(std::coroutine_handle<>) const { return false; }
  tracked await_resume() { return tracked(held.name + "!"); }
};
struct constructed_awaiter {
  explicit constructed_awaiter(tracked what) : held(std::move(what)) {}
  tracked held;
  bool await_ready() const { return false; }
  bool await_suspend(std::coroutine_handle<>) const { return false; }
  tracked await_resume() { return tracked(held.name + "!"); }
};

struct options {
  tracked name;
  int port = 0;
  tracked host{"host"};
};
struct constructed_options {
  constructed_options(tracked what, int number) : name(std::move(what)), port(number) {}
  tracked name;
  int port;
};

inline task<int> by_value(tracked t) {
  co_return t.size();
}
inline task<int> by_reference(const tracked& t) {
  co_return t.size();
}
inline task<int> with_options(options o) {
  co_return o.name.size() + o.port;
}
inline task<int> with_constructed_options(constructed_options o) {
  co_return o.name.size() + o.port;
}
inline task<int> with_vector(std::vector<tracked> v) {
  co_return static_cast<int>(v.size());
}
inline task<int> with_function(std::function<task<int>()> f) {
  co_return co_await f();
}
template <typename F, typename... Args>
task<int> call(F f, Args... args) {
  co_return f(args...);
}
inline task<tracked> make() {
  co_return tracked("mk");
}

struct form {
  const char* name;
  task<bool> (*run)();
};

class each_form : public testing::TestWithParam<form> {
protected:
  void makes_and_destroys_its_objects_once() {
    EXPECT_TRUE(skua::sync_wait(GetParam().run()));
    EXPECT_TRUE(tracked::alive().empty());
    tracked::alive().clear();
  }
};

}  // namespace skua_test

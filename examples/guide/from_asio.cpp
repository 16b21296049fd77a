// examples/guide/from_asio.cpp: the code of docs/guide/from-asio.md.
#include <skua/skua.hpp>

#include <string>
#include <utility>

namespace {

// Stands for a library that calls back, later and from elsewhere.
class old_client {
public:
  template <typename Handler>
  void async_query(std::string text, Handler done) {
    auto answer = [done](std::string rows) { done(std::move(rows)); };
    skua::post(answer, "rows of " + text);
  }
};

// [snippet: callback]
skua::task<std::string> query(old_client& client, std::string text) {
  co_return co_await skua::from_callback<std::string>([&](skua::callback<std::string> done) {
    client.async_query(text, [done](std::string rows) { done(std::move(rows)); });
  });
}
// [end]

// [snippet: strand]
class counter {  // in place of a strand: the data live inside a lock that tasks wait for
public:
  skua::task<int> next() {
    auto held = co_await count_.lock();
    co_return ++*held;
  }

private:
  skua::guarded<int> count_{0};
};
// [end]

skua::task<int> amain() {
  old_client client;
  const std::string rows = co_await query(client, "birds");
  counter numbers;
  const int one = co_await numbers.next();
  const int two = co_await numbers.next();
  co_return rows == "rows of birds" && one == 1 && two == 2 ? 0 : 1;
}

}  // namespace

int main() {
  return skua::run(amain());
}

// examples/guide/shared_state.cpp: the code of docs/guide/shared-state.md.
#include <skua/skua.hpp>

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace {

// [snippet: guarded]
class stock {
public:
  skua::task<> add(std::string item, int count) {
    auto held = co_await items_.lock();  // until `held` is gone
    (*held)[std::move(item)] += count;
  }

  skua::task<int> count(std::string_view item) {
    auto held = co_await items_.lock();
    const auto found = held->find(item);
    co_return found == held->end() ? 0 : found->second;
  }

private:
  skua::guarded<std::map<std::string, int, std::less<>>> items_;
};
// [end]

// [snippet: plain-mutex]
class hits {
public:
  void add(const std::string& page) {
    const std::lock_guard hold(mutex_);  // no co_await while it is held
    ++pages_[page];
  }
  int count(const std::string& page) {
    const std::lock_guard hold(mutex_);
    return pages_[page];
  }

private:
  std::mutex mutex_;
  std::map<std::string, int> pages_;
};
// [end]

// [snippet: owner]
struct deposit {
  int amount;
  skua::oneshot::sender<int> balance;
};

skua::task<> keep_account(skua::mpsc::receiver<deposit> orders) {
  int balance = 0;  // nobody else can reach it
  while (auto order = co_await orders.receive()) {
    balance += order->amount;
    (void)order->balance.send(balance);
  }
}

skua::task<int> pay_in(const skua::mpsc::sender<deposit>& account, int amount) {
  auto [tx, rx] = skua::oneshot::channel<int>();
  deposit order{amount, std::move(tx)};
  if (!co_await account.send(std::move(order))) co_return -1;
  const auto balance = co_await std::move(rx);
  co_return balance.value_or(-1);
}
// [end]

// [snippet: once]
skua::task<std::string> load_settings() {
  co_return "colour=blue";
}

skua::lazy shared_settings(load_settings);

skua::task<std::string> colour() {
  const std::string& all = co_await shared_settings.get();  // loaded by the first who asks
  co_return all.substr(all.find('=') + 1);
}
// [end]

skua::task<int> amain() {
  stock items;
  hits pages;
  const auto body = [&](skua::scope& children) -> skua::task<> {
    for (int i = 0; i < 100; ++i) {
      children.spawn(items.add("feather", 2));
      pages.add("/");
    }
    co_return;
  };
  co_await skua::with_scope(body);
  const int feathers = co_await items.count("feather");
  auto [account, orders] = skua::mpsc::channel<deposit>(8);
  auto keeper = skua::spawn(keep_account(std::move(orders)));
  const int first = co_await pay_in(account, 3);
  const int second = co_await pay_in(account, 4);
  {
    const auto last = std::move(account);  // the end for the keeper
  }
  co_await std::move(keeper);
  const std::string paint = co_await colour();
  const bool right =
      feathers == 200 && pages.count("/") == 100 && first == 3 && second == 7 && paint == "blue";
  co_return right ? 0 : 1;
}

}  // namespace

int main() {
  return skua::run(amain());
}

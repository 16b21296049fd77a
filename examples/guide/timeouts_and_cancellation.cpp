// examples/guide/timeouts_and_cancellation.cpp: the code of its page in docs/guide/.
#include <skua/skua.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

namespace {

using namespace std::chrono_literals;

skua::task<std::string> query(std::string text) {
  if (text == "slow") co_await skua::sleep(24h);
  co_return "rows of " + text;
}

// [snippet: timeout]
skua::task<skua::result<std::string>> bounded(std::string text) {
  co_return co_await skua::timeout(20ms, query(std::move(text)));  // or std::errc::timed_out
}
// [end]

// [snippet: deadline]
skua::task<std::string> two_steps() {
  std::string all = co_await query("users");
  const skua::instant end = co_await skua::current_deadline();  // of whoever called us
  if (end - skua::now() > 1ms) all += ", " + co_await query("carts");
  co_return all;
}

skua::task<skua::result<std::string>> answer() {
  co_return co_await skua::with_deadline(skua::now() + 30s, two_steps());
}
// [end]

// [snippet: retry]
skua::task<skua::result<int>> unreliable(int* attempts) {
  if (++*attempts < 3) co_return skua::fail(std::errc::connection_refused);
  co_return *attempts;
}

skua::task<skua::result<int>> insist() {
  int attempts = 0;
  const auto how = skua::retry_options().attempts(5).first_pause(1ms).total(30s);
  co_return co_await skua::retry(how, unreliable, &attempts);
}
// [end]

// [snippet: destructors]
struct open_account {
  explicit open_account(bool& closed) : closed_(closed) {}
  open_account(const open_account&) = delete;
  open_account& operator=(const open_account&) = delete;
  ~open_account() { closed_ = true; }

private:
  bool& closed_;
};

skua::task<> use_account(bool& closed) {
  const open_account mine(closed);
  co_await skua::sleep(24h);  // stopped here: `mine` is destroyed, nothing is thrown
  std::puts("a day later");   // never
}
// [end]

// [snippet: cleanup]
skua::task<> say_goodbye(int& said) {
  co_await skua::sleep(1ms);
  ++said;
}

skua::task<> converse(int& said) {
  const auto how = co_await skua::as_outcome(skua::sleep(24h));
  if (how.stopped()) co_await skua::shielded(say_goodbye(said));  // may wait, once more
}
// [end]

// [snippet: token]
skua::task<int> upload(int parts, skua::cancel_token called_off) {
  int sent = 0;
  while (sent < parts) {
    const auto step = co_await called_off.guard(skua::sleep(1ms));
    if (!step.has_value()) break;  // std::errc::operation_canceled
    ++sent;
  }
  co_return sent;
}
// [end]

skua::task<int> amain() {
  const auto quick = co_await bounded("birds");
  const auto slow = co_await bounded("slow");
  const auto both = co_await answer();
  const auto tried = co_await insist();
  bool closed = false;
  auto account = skua::spawn(use_account(closed));
  account.abort();
  const auto end = co_await account.outcome();
  int said = 0;
  auto talk = skua::spawn(converse(said));
  co_await skua::yield();
  talk.abort();
  const auto parted = co_await talk.outcome();
  skua::cancel_source uploads;
  const int all = co_await upload(3, uploads.token());
  uploads.cancel();
  const int none = co_await upload(3, uploads.token());
  const bool right = quick.has_value() && slow.error() == std::errc::timed_out &&
                     both.value() == "rows of users, rows of carts" && tried.value() == 3 &&
                     end.stopped() && all == 3 && none == 0;
  const bool begun = parted.has_value() == (said == 1);  // an abort may come before the first line
  co_return right&& begun ? 0 : 1;
}

}  // namespace

int main() {
  return skua::run(amain());
}

// examples/redis/session.cpp: batches of commands in, batches of answers out.
#include "session.hpp"

#include "commands.hpp"

#include <skua/coro/or_return.hpp>
#include <skua/coro/race.hpp>
#include <skua/time/timeout.hpp>

#include <array>
#include <chrono>
#include <span>
#include <string>
#include <string_view>

namespace redis {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t reply_batch = std::size_t{256} << 10;  // then they are written
constexpr auto patience = 30s;  // with a client that does not read its answers
constexpr auto parting_time = 1s;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

// [snippet: run]
skua::task<skua::result<void>> session::run(skua::cancel_token closing) {
  (void)peer_.set_nodelay(true);
  while (!over_) {
    co_await wait_for_news(closing);
    if (!input_.buffered().empty()) {
      auto held = co_await shared_.keys.lock();  // once for a batch
      execute_all(*held);
    }
    co_await skua::or_return(co_await write_replies());
  }
  co_return co_await part();
}
// [end]

// [snippet: wait]
// Bytes, or messages if there are subscriptions. Who loses the race has lost nothing.
skua::task<> session::wait_for_news(skua::cancel_token closing) {
  if (!client_.is_subscribed()) {
    const auto got = co_await closing.guard(input_.fill_buffer(needed_));
    over_ = !got.has_value() || got->size() < needed_;
    co_return;
  }
  auto first = co_await skua::select(input_.fill_buffer(needed_), client_.messages().receive(),
                                     closing.wait());
  if (const auto* bytes = first.get<0>()) {
    over_ = !bytes->has_value() || (*bytes)->size() < needed_;
  } else if (const auto* message = first.get<1>()) {
    over_ = !message->has_value();  // too far behind
    if (!over_) output_.raw(**message);
  } else {
    over_ = true;
  }
  client_.take_messages(output_);
}
// [end]

void session::execute_all(store& keys) {
  const skua::instant now = skua::now();
  std::string_view rest = text_of(input_.buffered());
  const std::size_t all = rest.size();
  needed_ = 1;
  while (!over_ && output_.size() < reply_batch) {
    const parsed next = parse(rest, found_);
    if (next.what == parsed::kind::more) {
      needed_ = next.length;
      break;
    }
    if (next.what == parsed::kind::error) {
      output_.error("ERR Protocol error: " + std::string(next.error));
      over_ = true;
      break;
    }
    if (!found_.empty()) {
      call what{found_, keys, shared_.channels, client_, now, output_};
      execute(what);
      over_ = what.quits;
    }
    rest.remove_prefix(next.length);
  }
  input_.consume(all - rest.size());
}

skua::task<skua::result<void>> session::write_replies() {
  std::span<const std::byte> rest = output_.bytes();
  while (!rest.empty()) {
    const std::size_t count =
        co_await skua::or_return(co_await skua::timeout(patience, peer_.write(rest)));
    rest = rest.subspan(count);
  }
  output_.clear();
  co_return {};
}

// Closing while bytes of the client are unread would destroy our last answer on its way.
skua::task<skua::result<void>> session::part() {
  co_await skua::or_return(co_await peer_.shutdown_write());
  const skua::instant end = skua::now() + parting_time;
  std::array<std::byte, 4096> ignored;
  while (skua::now() < end) {
    const auto got = co_await skua::timeout_at(end, peer_.read(ignored));
    if (!got.has_value() || *got == 0) break;
  }
  co_return {};
}

skua::task<skua::result<void>> talk(skua::net::tcp_stream peer, skua::cancel_token closing,
                                    database& shared) {
  session one(std::move(peer), shared);
  co_return co_await one.run(std::move(closing));
}

}  // namespace redis

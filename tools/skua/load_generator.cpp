// tools/skua/load_generator.cpp: many connections that ask an echo server, and what came of it.
#include "load_generator.hpp"

#include "failure.hpp"

#include <skua/coro/for_each_concurrent.hpp>
#include <skua/coro/race.hpp>
#include <skua/net/tcp_stream.hpp>
#include <skua/runtime/runtime.hpp>
#include <skua/runtime/with_scope.hpp>
#include <skua/time/sleep.hpp>
#include <skua/time/timeout.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <ranges>
#include <utility>

namespace skua_tool {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t connects_at_once = 64;
constexpr auto connect_limit = 5s;
constexpr auto answer_limit = 2s;

double to_seconds(skua::time_span length) {
  return static_cast<double>(length.count()) / 1e9;
}

std::vector<std::byte> message_of(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>('a' + i % 26);
  return bytes;
}

// From one message to the next, if they are spread over that many connections.
skua::time_span spread(double rate, std::size_t connections) {
  return skua::time_span::of_nanoseconds(std::max<std::int64_t>(
      1, static_cast<std::int64_t>(1e9 * static_cast<double>(connections) / rate)));
}

}  // namespace

load_generator::load_generator(const load_plan& plan)
    : plan_(plan), message_(message_of(plan.size)) {}

skua::task<> load_generator::connect(skua::net::socket_address target) {
  const std::size_t workers = skua::runtime_handle::current().metrics().workers.size();
  for (std::size_t i = 0; i < std::max<std::size_t>(1, workers); ++i)
    times_.push_back(std::make_unique<latencies>());
  auto next = [this, target](std::size_t) { return connect_one(target); };
  co_await skua::for_each_concurrent(std::views::iota(std::size_t{0}, plan_.connections),
                                     connects_at_once, next);
}

skua::task<> load_generator::connect_one(skua::net::socket_address target) {
  auto made = co_await skua::timeout(connect_limit, skua::net::tcp_stream::connect(target));
  if (made.has_value()) {
    const auto set = made->set_nodelay(true);
    if (!set.has_value()) made = skua::fail(set.error());
  }
  if (!made.has_value())
    throw failure("cannot connect to " + target.to_string() + ": " + made.error().message());
  latencies& times = *times_[connections_.size() % times_.size()];
  connections_.push_back(std::make_unique<load_connection>(std::move(*made), shape(), times));
}

skua::task<> load_generator::run(skua::cancel_token end) {
  begun_ = skua::now();
  auto all = skua::with_scope(run_all, std::ref(*this), end);
  if (shape().in_turn())
    co_await skua::race(std::move(all), lose_patience(end));
  else
    co_await std::move(all);
}

// One timer for all connections whose messages go in turn.
skua::task<> load_generator::lose_patience(skua::cancel_token end) {
  co_await end.wait();
  told_to_end_ = skua::now();
  co_await skua::sleep(answer_limit);
}

load_shape load_generator::shape() const {
  load_shape how;
  how.message = message_;
  how.depth = plan_.depth;
  if (plan_.rate > 0) how.interval = spread(plan_.rate, plan_.connections);
  how.patience = answer_limit;
  return how;
}

skua::task<> load_generator::run_all(skua::scope& children, load_generator& self,
                                     skua::cancel_token end) {
  for (std::size_t i = 0; i < self.connections_.size(); ++i) {
    // Not all at once.
    skua::instant first = self.begun_;
    if (self.plan_.rate > 0)
      first = first + skua::time_span::of_nanoseconds(spread(self.plan_.rate, 1).count() *
                                                      static_cast<std::int64_t>(i));
    children.spawn(self.connections_[i]->run(first, end));
  }
  co_return;
}

load_report load_generator::so_far() const {
  load_report seen;
  seen.seconds = to_seconds(skua::now() - begun_);
  for (const auto& one : connections_) seen.sent += one->sent();
  for (const auto& some : times_) seen.answers += some->snapshot();
  return seen;
}

load_report load_generator::report() const {
  load_report seen = so_far();
  skua::instant ended = std::max(begun_, told_to_end_);
  for (const auto& one : connections_) {
    ended = std::max(ended, one->ended());
    seen.unsent += one->unsent();
    seen.unanswered += one->unanswered();
    if (one->error().empty()) continue;
    ++seen.broken;
    if (seen.first_error.empty()) seen.first_error = one->error();
  }
  seen.seconds = to_seconds(ended - begun_);
  return seen;
}

}  // namespace skua_tool

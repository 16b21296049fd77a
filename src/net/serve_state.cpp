// src/net/serve_state.cpp: counts, and says what nobody else will.
#include "skua/net/serve_state.hpp"

#include "net/runtime_log.hpp"

namespace skua::inline SKUA_ABI {
namespace {

constexpr std::int64_t between_lines = 1'000'000'000;

using counter = std::atomic<std::uint64_t>;

void add(counter& to) noexcept {
  // order: [serve.counted] release; with value_of(). What was counted before shows before.
  to.fetch_add(1, std::memory_order_release);
}

std::uint64_t value_of(const counter& from) noexcept {
  // order: [serve.counted] acquire; with add().
  return from.load(std::memory_order_acquire);
}

}  // namespace

// Ends are read before beginnings, so that no more have ended than were begun.
serve_report serve_counters::snapshot() const noexcept {
  serve_report now;
  now.succeeded = value_of(succeeded_);
  now.failed = value_of(failed_);
  now.timed_out = value_of(timed_out_);
  now.threw = value_of(threw_);
  now.stopped = value_of(stopped_);
  now.pauses = value_of(pauses_);
  now.accepted = value_of(accepted_);
  return now;
}

serve_state::serve_state(const serve_options& how)
    : how_(how),
      slots_(how.max_connections()),
      counters_(how.counters() != nullptr ? *how.counters() : own_),
      patience_(counters_) {}

time_span serve_state::pause_without_memory() noexcept {
  static_cast<void>(patience_.after(std::make_error_code(std::errc::not_enough_memory)));
  return patience_.pause();
}

void serve_state::drain_has_failed() const noexcept {
  const serve_report at = counters_.snapshot();
  net::log_here().info("handlers are stopped: the time to end has passed", {{"open", at.open()}});
}

serve_report serve_state::report() const noexcept {
  return counters_.snapshot();
}

void serve_state::say_thrown(const std::exception_ptr& what) noexcept {
  const std::int64_t here = now().nanoseconds();
  // order: none; whoever moves it on is the one who speaks.
  std::int64_t until = silent_until_.load(std::memory_order_relaxed);
  add(unsaid_);
  // order: none; see above.
  if (here < until || !silent_until_.compare_exchange_strong(until, here + between_lines,
                                                             std::memory_order_relaxed))
    return;
  // order: none; a number to look at.
  const std::uint64_t count = unsaid_.exchange(0, std::memory_order_relaxed);
  const logger log = net::log_here();
  try {
    std::rethrow_exception(what);
  } catch (const std::exception& known) {
    log.error("a handler has thrown; its connection is closed",
              {{"what", known.what()}, {"times", count}});
  } catch (...) {
    log.error("a handler has thrown; its connection is closed", {{"times", count}});
  }
}

serve_state::ticket::ticket(serve_state& of) noexcept : of_(&of) {
  add(of.counters_.accepted_);
}

serve_state::ticket::~ticket() {
  if (of_ != nullptr) add(of_->counters_.stopped_);
}

void serve_state::ticket::succeeded() noexcept {
  add(std::exchange(of_, nullptr)->counters_.succeeded_);
}

void serve_state::ticket::failed(const std::error_code& why) noexcept {
  serve_counters& counters = std::exchange(of_, nullptr)->counters_;
  add(why == std::errc::timed_out ? counters.timed_out_ : counters.failed_);
  const logger log = net::log_here();
  if (!log.enabled(log_level::debug)) return;
  log.debug("a connection has ended with an error",
            {{"error", why.value()}, {"category", why.category().name()}});
}

void serve_state::ticket::threw(const std::exception_ptr& what) noexcept {
  if (of_ == nullptr) return;
  serve_state& of = *std::exchange(of_, nullptr);
  add(of.counters_.threw_);
  of.say_thrown(what);
}

}  // namespace skua::inline SKUA_ABI

// skua/net/serve_state.hpp: what serve() knows, whatever the types of its connections.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/net/accept_patience.hpp"
#include "skua/net/serve_counters.hpp"
#include "skua/net/serve_options.hpp"
#include "skua/sync/cancel_source.hpp"
#include "skua/sync/cancel_token.hpp"
#include "skua/sync/semaphore.hpp"
#include "skua/time/instant.hpp"
#include "skua/time/time_span.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <system_error>
#include <utility>

namespace skua::inline SKUA_ABI {

/// For serve(). What handlers report comes from any thread, all else from the serving task.
class [[gnu::visibility("default")]] serve_state {
public:
  explicit serve_state(const serve_options& how);
  serve_state(const serve_state&) = delete;
  serve_state& operator=(const serve_state&) = delete;

  [[nodiscard]] const serve_options& options() const noexcept { return how_; }
  /// One permit for each connection.
  [[nodiscard]] semaphore& slots() noexcept { return slots_; }
  [[nodiscard]] net::accept_patience& patience() noexcept { return patience_; }
  /// Cancelled when the end was asked for.
  [[nodiscard]] cancel_token closing() const { return closing_.token(); }

  void begin_to_close() noexcept { closing_.cancel(); }
  /// How long nobody is accepted, after there was no memory for one.
  [[nodiscard]] time_span pause_without_memory() noexcept;
  /// The handlers that are left are about to be stopped.
  void drain_has_failed() const noexcept;
  [[nodiscard]] serve_report report() const noexcept;

  /// One connection, from accept to the end of its handler. The first thing that is said of its
  /// end counts; if nothing is, it was stopped.
  class [[gnu::visibility("default")]] ticket {
  public:
    explicit ticket(serve_state& of) noexcept;
    ticket(ticket&& from) noexcept : of_(std::exchange(from.of_, nullptr)) {}
    ticket& operator=(ticket&&) = delete;
    ~ticket();

    void succeeded() noexcept;
    void failed(const std::error_code& why) noexcept;
    void threw(const std::exception_ptr& what) noexcept;

  private:
    serve_state* of_;
  };

private:
  void say_thrown(const std::exception_ptr& what) noexcept;

  const serve_options how_;
  semaphore slots_;
  cancel_source closing_;
  serve_counters own_;  // if the options name none
  serve_counters& counters_;
  net::accept_patience patience_;
  std::atomic<std::int64_t> silent_until_ = 0;  // about exceptions
  std::atomic<std::uint64_t> unsaid_ = 0;
};

}  // namespace skua::inline SKUA_ABI

// bench/peers/asio/countdown.hpp: waits for so many others; Asio has no handle to join.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

/// One coroutine waits, once. Nobody touches it after the last has arrived.
class countdown {
public:
  explicit countdown(std::uint64_t count) : left_(count + 1) {}

  void arrive() {
    if (--left_ == 0) std::exchange(waiting_, nullptr)->go_on();
  }
  asio::awaitable<void> wait() {
    auto begin = [this](auto handler) {
      waiting_ = std::make_unique<waiting<decltype(handler)>>(std::move(handler));
      arrive();
    };
    return asio::async_initiate<const asio::use_awaitable_t<>, void()>(begin, asio::use_awaitable);
  }

private:
  struct waiter {
    virtual ~waiter() = default;
    virtual void go_on() = 0;
  };
  template <typename Handler>
  struct waiting final : waiter {
    explicit waiting(Handler what) : handler(std::move(what)) {}
    void go_on() override { asio::post(std::move(handler)); }
    Handler handler;
  };

  std::atomic<std::uint64_t> left_;
  std::unique_ptr<waiter> waiting_;
};

// bench/support/echo_load.hpp: a server that returns messages, in a thread, and the load on it.
#pragma once

#include "support/call_counter.hpp"

#include <liburing.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

/// All servers have the same room for a message, of which a message fills a part.
constexpr std::size_t message_size = 64;
struct connection {
  int fd = -1;
  std::array<std::byte, 8 * message_size> room{};
};

/// How messages come.
enum class manner : unsigned char {
  /// All the time, from another CPU: how fast is the server?
  stream,
  /// One of each connection at once, when all have come back, from the same CPU: how many calls
  /// does it make? In a stream that depends on how many come together, which is up to chance, and
  /// the slower server needs fewer.
  bursts,
};

/// Where the thread that serves is observed.
class seat {
public:
  explicit seat(bool counts_calls) noexcept : counts_(counts_calls) {}

  /// By the thread that serves, before the first message.
  void take();
  void wait_until_taken() const { taken_.wait(false); }

  /// Of its thread, in nanoseconds.
  [[nodiscard]] double cpu_time() const;
  /// Null if calls are not counted.
  [[nodiscard]] const call_counter* calls() const { return calls_ ? &*calls_ : nullptr; }

private:
  bool counts_;
  std::optional<call_counter> calls_;
  clockid_t clock_ = CLOCK_REALTIME;
  std::atomic<bool> taken_{false};
};

/// Takes the seat, then returns each message to where it came from, and closes a connection when
/// the other side has. Returns when all are closed. The sockets are TCP and block.
using serve_function = void (*)(std::span<connection> all, seat& mine);

/// What one round brought. The calls are 0 if they are not counted.
struct load_result {
  double messages = 0;
  double seconds = 0;
  double cpu_seconds = 0;  // of the server
  double calls = 0;        // of the server
};

/// The other ends. Cheaper than a server can be, so that it is the server that is measured: one
/// request receives all messages of a connection, and what is sent does not answer.
class echo_client {
public:
  explicit echo_client(manner how);
  ~echo_client();
  echo_client(const echo_client&) = delete;
  echo_client& operator=(const echo_client&) = delete;

  void add(skua::unique_fd end);

  /// Each connection has one message on its way, all the time; at the end none. How many came back.
  [[nodiscard]] std::uint64_t exchange_until(std::chrono::steady_clock::time_point end);

private:
  struct free_memory {
    void operator()(void* what) const noexcept { std::free(what); }
  };

  [[nodiscard]] io_uring_sqe& next_entry();
  void give_back(std::uint16_t buffer);
  void receive(int fd);
  void send(int fd);

  manner how_;
  io_uring ring_{};
  std::vector<int> ends_;
  std::vector<std::array<std::byte, 2 * message_size>> room_;
  std::unique_ptr<io_uring_buf_ring, free_memory> shared_;
};

/// The thread of a server, bound to a CPU of this process, and the client, which is used by
/// the thread that made it, and binds it to the last CPU.
class echo_server {
public:
  echo_server(serve_function serve, std::size_t connections, manner how);
  ~echo_server();
  echo_server(const echo_server&) = delete;
  echo_server& operator=(const echo_server&) = delete;

  [[nodiscard]] bool counts_calls() const { return seat_.calls() != nullptr; }

  [[nodiscard]] load_result load(std::chrono::nanoseconds time);

private:
  void connect_all(std::size_t count);

  std::vector<connection> served_;
  std::unique_ptr<echo_client> client_;
  seat seat_;
  std::thread thread_;
};

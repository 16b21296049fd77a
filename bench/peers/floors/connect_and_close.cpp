// bench/peers/floors/connect_and_close.cpp: the load on servers that close what they accept.
#include "floors/questions.hpp"
#include "floors/sockets.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {

using floors::require;

constexpr int at_once = 8;

/// Ends with a reset, so that neither side keeps the port for a minute.
void connect_once(const sockaddr_in& to) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require(fd >= 0, "socket");
  require(::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0, "connect");
  char none = 0;
  require(::recv(fd, &none, 1, 0) == 0, "recv");
  const linger at_once_too{1, 0};
  require(::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once_too, sizeof(at_once_too)) == 0,
          "setsockopt");
  ::close(fd);
}

}  // namespace

peers::answer connect_and_close(const peers::request& asked) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<std::uint16_t>(asked.port));
  std::atomic<std::uint64_t> made = 0;
  const std::int64_t begun = peers::now();
  const std::int64_t end = begun + static_cast<std::int64_t>(asked.scale * 2e9);
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < at_once; ++i)
      all.emplace_back([&] {
        for (; peers::now() < end; ++made) connect_once(to);
      });
  }
  const auto seconds = static_cast<double>(peers::now() - begun) / 1e9;
  return {"connections/s", static_cast<double>(made) / seconds, made};
}

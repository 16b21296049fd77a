// bench/peers/floors/sockets.cpp: sockets as one opens them without a library.
#include "floors/sockets.hpp"

#include "common/protocol.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstdio>
#include <cstdlib>

namespace floors {

void require(bool worked, const char* call) {
  if (worked) return;
  std::perror(call);
  std::exit(1);
}

int listen() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require(fd >= 0, "socket");
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const address = reinterpret_cast<sockaddr*>(&at);
  socklen_t length = sizeof(at);
  require(::bind(fd, address, length) == 0, "bind");
  require(::listen(fd, 4'096) == 0, "listen");
  require(::getsockname(fd, address, &length) == 0, "getsockname");
  peers::say_port(ntohs(at.sin_port));
  return fd;
}

void set_nodelay(int fd) {
  const int on = 1;
  require(::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0, "setsockopt");
}

}  // namespace floors

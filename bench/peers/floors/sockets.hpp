// bench/peers/floors/sockets.hpp: sockets as one opens them without a library.
#pragma once

#include <cstddef>
#include <vector>

namespace floors {

/// At a port of the loopback that the kernel chooses, which is said on the standard output.
[[nodiscard]] int listen();
void set_nodelay(int fd);
/// Ends the program, and says which call failed.
void require(bool worked, const char* call);

struct connection {
  connection(int which, std::size_t size) : fd(which), room(size) {}
  int fd;
  std::vector<std::byte> room;
  std::size_t filled = 0;  // of what is being sent
  std::size_t sent = 0;
};

}  // namespace floors

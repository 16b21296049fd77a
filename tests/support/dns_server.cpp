// tests/support/dns_server.cpp: dnsmasq on a free port of the loopback interface.
#include "support/dns_server.hpp"

#include "support/bound_socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <string_view>
#include <utility>

namespace skua_test {
namespace {

using skua::net::ip_address;
using skua::net::socket_address;

/// One that is free for UDP and was a moment ago; TCP is hoped for.
socket_address free_address() {
  return bound_socket(SOCK_DGRAM, ip_address::v4_loopback()).address;
}

}  // namespace

dns_server::dns_server(std::vector<std::string> arguments) {
  for (int attempt = 0; attempt < 5 && process_ == 0; ++attempt) {
    if (start(arguments) && has_started()) return;
    if (process_ > 0) {  // somebody took the port
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
      process_ = 0;
    }
  }
}

dns_server::~dns_server() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

bool dns_server::start(const std::vector<std::string>& arguments) {
  address_ = free_address();
  std::vector<std::string> all = {"dnsmasq",
                                  "--keep-in-foreground",
                                  "--conf-file=/dev/null",
                                  "--log-facility=-",
                                  "--pid-file=",
                                  "--user=root",
                                  "--no-resolv",
                                  "--no-hosts",
                                  "--local=/test/",
                                  "--listen-address=127.0.0.1",
                                  "--bind-interfaces",
                                  "--port=" + std::to_string(address_.port())};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> words;
  for (std::string& one : all) words.push_back(one.data());
  words.push_back(nullptr);
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return false;
  log_.reset(pipe[0]);
  const skua::unique_fd write_end(pipe[1]);
  process_ = ::fork();
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // also if the test crashes
    ::dup2(write_end.get(), STDERR_FILENO);
    ::execvp("dnsmasq", words.data());
    ::_exit(127);
  }
  return process_ > 0;
}

/// It says so; if it cannot, it ends.
bool dns_server::has_started() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  std::string said;
  while (std::chrono::steady_clock::now() < end) {
    pollfd one{log_.get(), POLLIN, 0};
    if (::poll(&one, 1, 100) <= 0) continue;
    std::array<char, 512> piece;
    const ssize_t got = ::read(log_.get(), piece.data(), piece.size());
    if (got <= 0) return false;
    said.append(piece.data(), static_cast<std::size_t>(got));
    if (said.find("started") != std::string::npos) return true;
  }
  return false;
}

}  // namespace skua_test

// tests/support/op_cases.cpp: pipes, sockets, files, processes and words to wait for.
#include "support/op_cases.hpp"

#include "driver/futex.hpp"
#include "support/pipes.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>

extern "C" {
#include <sys/pidfd.h>  // which does not say so itself
}

namespace skua_test {
namespace {

namespace io = skua::io;
using skua::task;
using skua::unique_fd;

constexpr auto untouched = std::byte{0xa5};
constexpr int message_size = 4;

int unread(int fd) {
  int count = -1;
  EXPECT_EQ(::ioctl(fd, FIONREAD, &count), 0);
  return count;
}

/// As many bytes as the other side takes.
void stuff(int fd) {
  std::array<char, 4096> much{};
  const int flags = ::fcntl(fd, F_GETFL);
  ::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
  while (::write(fd, much.data(), much.size()) > 0) {
  }
  while (::write(fd, much.data(), 1) > 0) {
  }
  ::fcntl(fd, F_SETFL, flags);
}

/// Bytes come in: into a buffer that nobody may touch after a stop.
class receives : public op_case {
public:
  void provoke() override { EXPECT_EQ(::write(in, "abcd", message_size), message_size); }
  void expect_untouched() override {
    EXPECT_EQ(unread(out), message_size);
    EXPECT_TRUE(std::ranges::all_of(buffer, [](std::byte one) { return one == untouched; }));
  }
  void expect_done() override {
    EXPECT_EQ(unread(out), 0);
    EXPECT_EQ(text_of(std::span(buffer).first(message_size)), "abcd");
  }

protected:
  receives() { buffer.fill(untouched); }
  std::array<std::byte, 16> buffer{};
  iovec vector{buffer.data(), buffer.size()};
  int in = -1;
  int out = -1;
};

class from_pipe : public receives {
protected:
  from_pipe() {
    in = pipe.in();
    out = pipe.out();
  }
  pipe_pair pipe;
};

class from_socket : public receives {
protected:
  from_socket() {
    in = pair.second();
    out = pair.first();
  }
  socket_pair pair;
};

/// Bytes go out, when there is room again.
class sends : public op_case {
public:
  void provoke() override {
    std::array<char, 4096> much{};
    while (stuffed > 0) {
      const auto most = std::min(much.size(), static_cast<std::size_t>(stuffed));
      const auto got = ::read(out, much.data(), most);
      EXPECT_GT(got, 0);
      stuffed -= static_cast<int>(got);
    }
  }
  void expect_untouched() override { EXPECT_EQ(unread(out), 0); }
  void expect_done() override { EXPECT_EQ(unread(out), message_size); }

protected:
  std::array<char, message_size + 1> text{"wxyz"};
  iovec vector{text.data(), message_size};
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return std::as_bytes(std::span(text)).first(message_size);
  }
  void fill(int from, int to) {
    in = from;
    out = to;
    stuff(in);
    stuffed = unread(out);
  }
  int in = -1;
  int out = -1;
  int stuffed = 0;  // bytes that were there first
};

class to_pipe : public sends {
protected:
  to_pipe() { fill(pipe.in(), pipe.out()); }
  pipe_pair pipe;
};

class to_socket : public sends {
protected:
  to_socket() { fill(pair.second(), pair.first()); }
  socket_pair pair;
};

struct nops final : op_case {
  task<bool> run() override { co_return (co_await io::nop()).has_value(); }
};

struct reads final : from_pipe {
  task<bool> run() override { co_return (co_await io::read(out, buffer)).has_value(); }
};
struct reads_vector final : from_pipe {
  task<bool> run() override {
    co_return (co_await io::readv(out, std::span(&vector, 1))).has_value();
  }
};
struct receives_bytes final : from_socket {
  task<bool> run() override { co_return (co_await io::recv(out, buffer)).has_value(); }
};
struct receives_message final : from_socket {
  task<bool> run() override {
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    co_return (co_await io::recvmsg(out, message)).has_value();
  }
  msghdr message{};
};

struct writes final : to_pipe {
  task<bool> run() override { co_return (co_await io::write(in, bytes())).has_value(); }
};
struct writes_vector final : to_pipe {
  task<bool> run() override {
    co_return (co_await io::writev(in, std::span(&vector, 1))).has_value();
  }
};
struct sends_bytes final : to_socket {
  task<bool> run() override { co_return (co_await io::send(in, bytes())).has_value(); }
};
struct sends_message final : to_socket {
  task<bool> run() override {
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    co_return (co_await io::sendmsg(in, message)).has_value();
  }
  msghdr message{};
};

/// A listener on loopback, and clients.
class with_listener : public op_case {
protected:
  with_listener() : listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener.get(), address(), sizeof at), 0);
    EXPECT_EQ(::listen(listener.get(), 4), 0);
    socklen_t length = sizeof at;
    EXPECT_EQ(::getsockname(listener.get(), address(), &length), 0);
  }
  sockaddr* address() { return reinterpret_cast<sockaddr*>(&at); }
  /// The other side may know of the connection a moment before the listener does.
  bool has_one_waiting(int patience = 0) {
    pollfd ready{.fd = listener.get(), .events = POLLIN, .revents = 0};
    static_cast<void>(::poll(&ready, 1, patience));
    ::fcntl(listener.get(), F_SETFL, O_NONBLOCK);
    return static_cast<bool>(unique_fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)));
  }

  sockaddr_in at{};
  unique_fd listener;
  unique_fd client;
};

struct accepts final : with_listener {
  task<bool> run() override {
    auto got = co_await io::accept(listener.get());
    const bool good = got.has_value();
    if (good) peer = std::move(*got);
    co_return good;
  }
  void provoke() override {
    client.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(client.get(), address(), sizeof at), 0);
  }
  void expect_untouched() override { EXPECT_TRUE(has_one_waiting(60'000)); }
  void expect_done() override { EXPECT_FALSE(has_one_waiting()); }
  unique_fd peer;
};

struct connects final : with_listener {
  connects() { client.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }
  task<bool> run() override {
    co_return (co_await io::connect(client.get(), address(), sizeof at)).has_value();
  }
  void expect_done() override { EXPECT_TRUE(has_one_waiting(60'000)); }
};

struct closes final : op_case {
  task<bool> run() override { co_return (co_await io::close(pipe.take_in())).has_value(); }
  pipe_pair pipe;
};

struct shuts_down final : op_case {
  task<bool> run() override {
    co_return (co_await io::shutdown(pair.first(), SHUT_WR)).has_value();
  }
  socket_pair pair;
};

/// A directory of its own with a file in it.
class with_files : public op_case {
protected:
  with_files() : directory("/tmp/skua_ops_XXXXXX") {
    EXPECT_NE(::mkdtemp(directory.data()), nullptr);
    file.reset(::open(at("file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_TRUE(file);
  }
  ~with_files() override {
    for (const char* name : {"file", "other", "fifo"}) ::unlink(at(name).c_str());
    ::rmdir(at("inner").c_str());
    EXPECT_EQ(::rmdir(directory.c_str()), 0);
  }
  [[nodiscard]] std::string at(const char* name) const { return directory + "/" + name; }
  [[nodiscard]] bool exists(const char* name) const {
    return ::faccessat(AT_FDCWD, at(name).c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
  }

  std::string directory;
  unique_fd file;
};

struct opens final : with_files {
  task<bool> run() override {
    co_return (co_await io::open(at("file").c_str(), O_RDONLY)).has_value();
  }
};

/// A fifo opens when somebody opens its other end.
struct opens_fifo final : with_files {
  opens_fifo() { EXPECT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0); }
  task<bool> run() override {
    auto got = co_await io::open(at("fifo").c_str(), O_WRONLY);
    const bool good = got.has_value();
    if (good) mine = std::move(*got);
    co_return good;
  }
  void provoke() override { other.reset(::open(at("fifo").c_str(), O_RDWR | O_CLOEXEC)); }
  unique_fd mine;
  unique_fd other;
};

struct syncs final : with_files {
  task<bool> run() override { co_return (co_await io::fsync(file.get())).has_value(); }
};
struct syncs_data final : with_files {
  task<bool> run() override { co_return (co_await io::fdatasync(file.get())).has_value(); }
};
struct allocates final : with_files {
  task<bool> run() override {
    co_return (co_await io::fallocate(file.get(), 0, 0, 4096)).has_value();
  }
};
struct truncates final : with_files {
  task<bool> run() override { co_return (co_await io::ftruncate(file.get(), 17)).has_value(); }
  void expect_done() override {
    struct ::stat about{};
    EXPECT_EQ(::fstat(file.get(), &about), 0);
    EXPECT_EQ(about.st_size, 17);
  }
};
struct asks_about final : with_files {
  task<bool> run() override {
    co_return (co_await io::statx(at("file").c_str(), 0, STATX_SIZE, about)).has_value();
  }
  struct ::statx about{};
};
struct renames final : with_files {
  task<bool> run() override {
    co_return (co_await io::rename(at("file").c_str(), at("other").c_str())).has_value();
  }
  void expect_done() override { EXPECT_TRUE(exists("other") && !exists("file")); }
};
struct unlinks final : with_files {
  task<bool> run() override { co_return (co_await io::unlink(at("file").c_str())).has_value(); }
  void expect_done() override { EXPECT_FALSE(exists("file")); }
};
struct makes_directory final : with_files {
  task<bool> run() override {
    co_return (co_await io::mkdir(at("inner").c_str(), 0700)).has_value();
  }
  void expect_done() override { EXPECT_TRUE(exists("inner")); }
};
struct links final : with_files {
  task<bool> run() override {
    co_return (co_await io::link(at("file").c_str(), at("other").c_str())).has_value();
  }
  void expect_done() override { EXPECT_TRUE(exists("other")); }
};
struct links_symbolically final : with_files {
  task<bool> run() override {
    co_return (co_await io::symlink("file", at("other").c_str())).has_value();
  }
  void expect_done() override { EXPECT_TRUE(exists("other")); }
};

struct splices final : op_case {
  task<bool> run() override {
    co_return (co_await io::splice(from.out(), io::at_position, to.in(), io::at_position, 100))
        .has_value();
  }
  void provoke() override { EXPECT_EQ(::write(from.in(), "abcd", message_size), message_size); }
  void expect_untouched() override { EXPECT_EQ(unread(from.out()), message_size); }
  void expect_done() override { EXPECT_EQ(unread(to.out()), message_size); }
  pipe_pair from;
  pipe_pair to;
};

struct polls final : op_case {
  task<bool> run() override { co_return (co_await io::poll_fd(pipe.out(), POLLIN)).has_value(); }
  void provoke() override { EXPECT_EQ(::write(pipe.in(), "x", 1), 1); }
  pipe_pair pipe;
};

struct waits_for_process final : op_case {
  waits_for_process() : child(::fork()) {
    if (child == 0) {
      ::pause();
      ::_exit(0);
    }
    process.reset(::pidfd_open(child, 0));
    EXPECT_TRUE(process);
  }
  ~waits_for_process() override {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  task<bool> run() override {
    co_return (co_await io::wait_process(process.get(), how, WEXITED)).has_value();
  }
  void provoke() override { ::kill(child, SIGKILL); }
  void expect_untouched() override { EXPECT_EQ(::waitpid(child, nullptr, 0), child); }
  void expect_done() override { EXPECT_EQ(how.si_status, SIGKILL); }
  pid_t child;
  unique_fd process;
  siginfo_t how{};
};

struct waits_for_word final : op_case {
  task<bool> run() override {
    const auto got = co_await io::futex_wait(plain(), 0);
    co_return got.has_value() || got.error() == std::errc::resource_unavailable_try_again;
  }
  void provoke() override {
    word.store(1);
    skua::process_futex::wake_one(word);
  }
  std::uint32_t& plain() { return reinterpret_cast<std::uint32_t&>(word); }
  std::atomic<std::uint32_t> word{0};
};

template <typename Case>
std::unique_ptr<op_case> make() {
  return std::make_unique<Case>();
}

template <typename Case>
op_kind at_once(const char* name) {
  return {name, false, false, make<Case>};
}

template <typename Case>
op_kind waiting(const char* name, bool always_ends = false) {
  return {name, true, always_ends, make<Case>};
}

}  // namespace

std::vector<op_kind> all_operations(bool on_epoll) {
  return {
      at_once<nops>("nop"),
      waiting<reads>("read"),
      waiting<reads_vector>("readv"),
      waiting<receives_bytes>("recv"),
      waiting<receives_message>("recvmsg"),
      waiting<writes>("write"),
      waiting<writes_vector>("writev"),
      waiting<sends_bytes>("send"),
      waiting<sends_message>("sendmsg"),
      waiting<accepts>("accept"),
      at_once<connects>("connect"),
      at_once<closes>("close"),
      at_once<shuts_down>("shutdown"),
      at_once<opens>("open"),
      waiting<opens_fifo>("open of a fifo", on_epoll),
      at_once<syncs>("fsync"),
      at_once<syncs_data>("fdatasync"),
      at_once<allocates>("fallocate"),
      at_once<truncates>("ftruncate"),
      at_once<asks_about>("statx"),
      at_once<renames>("rename"),
      at_once<unlinks>("unlink"),
      at_once<makes_directory>("mkdir"),
      at_once<links>("link"),
      at_once<links_symbolically>("symlink"),
      waiting<splices>("splice"),
      waiting<polls>("poll_fd"),
      waiting<waits_for_process>("wait_process"),
      waiting<waits_for_word>("futex_wait"),
  };
}

}  // namespace skua_test

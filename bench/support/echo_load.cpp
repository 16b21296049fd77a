// bench/support/echo_load.cpp: connections over the loopback, and a cheap client.
#include "support/echo_load.hpp"

#include "support/require.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace {

using clock_type = std::chrono::steady_clock;
using skua::unique_fd;
using namespace std::chrono_literals;

// Two threads that wake each other would otherwise share a CPU in some rounds and not in others.
void bind_this_thread(bool to_first) {
  static const cpu_set_t all = [] {
    cpu_set_t set;
    require(::sched_getaffinity(0, sizeof set, &set) == 0, "sched_getaffinity");
    return set;
  }();
  int chosen = -1;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(static_cast<std::size_t>(i), &all) && (chosen < 0 || !to_first)) chosen = i;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(chosen), &one);
  require(::sched_setaffinity(0, sizeof one, &one) == 0, "sched_setaffinity");
}

// On one CPU, client and server take turns: who is woken waits until the other sleeps.
void choose_policy(manner how) {
  const sched_param none{};
  const int policy = how == manner::bursts ? SCHED_BATCH : SCHED_OTHER;
  require(::sched_setscheduler(0, policy, &none) == 0, "sched_setscheduler");
}

void allow_many_files() {
  rlimit limit{};
  require(::getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
  limit.rlim_cur = limit.rlim_max;
  require(::setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
}

unique_fd tcp_socket() {
  unique_fd made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  require(bool(made), "socket");
  return made;
}

void send_at_once(int fd) {
  const int on = 1;
  require(::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0, "setsockopt");
}

double seconds_of(clock_type::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

void seat::take() {
  require(::pthread_getcpuclockid(::pthread_self(), &clock_) == 0, "pthread_getcpuclockid");
  if (counts_) {
    auto made = call_counter::for_this_thread();
    if (made) calls_.emplace(std::move(*made));
  }
  taken_ = true;
  taken_.notify_all();
}

double seat::cpu_time() const {
  timespec now{};
  require(::clock_gettime(clock_, &now) == 0, "clock_gettime");
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

echo_server::echo_server(serve_function serve, std::size_t connections, manner how)
    : client_(std::make_unique<echo_client>(how)), seat_(how == manner::bursts) {
  bind_this_thread(false);
  choose_policy(how);  // inherited
  allow_many_files();
  connect_all(connections);
  thread_ = std::thread([this, serve, how] {
    bind_this_thread(how == manner::stream);
    serve(served_, seat_);
  });
  seat_.wait_until_taken();
}

echo_server::~echo_server() {
  client_.reset();
  thread_.join();
}

void echo_server::connect_all(std::size_t count) {
  const unique_fd listener = tcp_socket();
  sockaddr_in address{};
  socklen_t size = sizeof address;
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  require(::bind(listener.get(), generic, size) == 0, "bind");
  require(::getsockname(listener.get(), generic, &size) == 0, "getsockname");
  require(::listen(listener.get(), 16) == 0, "listen");
  served_.resize(count);
  for (connection& one : served_) {
    unique_fd end = tcp_socket();
    require(::connect(end.get(), generic, size) == 0, "connect");
    one.fd = ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC);
    require(one.fd >= 0, "accept4");
    send_at_once(one.fd);
    send_at_once(end.get());
    client_->add(std::move(end));
  }
}

// --- the client

namespace {

constexpr unsigned entries = 1'024;
constexpr unsigned buffers = 2'048;  // more than there are messages on their way
constexpr int buffer_group = 0;
constexpr std::uint64_t sent = ~std::uint64_t{0};

}  // namespace

echo_client::echo_client(manner how) : how_(how), room_(buffers) {
  io_uring_params params{};
  params.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE;
  params.cq_entries = 4 * entries;
  require(io_uring_queue_init_params(entries, &ring_, &params) == 0, "io_uring_queue_init_params");
  constexpr std::size_t bytes = buffers * sizeof(io_uring_buf);
  void* const memory = std::aligned_alloc(4'096, bytes);
  require(memory != nullptr, "aligned_alloc");
  shared_.reset(static_cast<io_uring_buf_ring*>(memory));
  io_uring_buf_reg where{};
  where.ring_addr = reinterpret_cast<std::uintptr_t>(memory);
  where.ring_entries = buffers;
  where.bgid = buffer_group;
  require(io_uring_register_buf_ring(&ring_, &where, 0) == 0, "io_uring_register_buf_ring");
  io_uring_buf_ring_init(shared_.get());
  for (std::uint16_t i = 0; i < buffers; ++i) give_back(i);
}

echo_client::~echo_client() {
  io_uring_queue_exit(&ring_);
  for (const int fd : ends_) {
    ::shutdown(fd, SHUT_RDWR);  // the ring lets go of it a little later
    ::close(fd);
  }
}

io_uring_sqe& echo_client::next_entry() {
  io_uring_sqe* entry = io_uring_get_sqe(&ring_);
  if (entry == nullptr) {
    require(io_uring_submit(&ring_) > 0, "io_uring_submit");
    entry = io_uring_get_sqe(&ring_);
  }
  return *entry;
}

void echo_client::give_back(std::uint16_t buffer) {
  io_uring_buf_ring_add(shared_.get(), &room_[buffer], sizeof room_[buffer], buffer,
                        io_uring_buf_ring_mask(buffers), 0);
  io_uring_buf_ring_advance(shared_.get(), 1);
}

void echo_client::receive(int fd) {
  io_uring_sqe& entry = next_entry();
  io_uring_prep_recv_multishot(&entry, fd, nullptr, 0, 0);
  entry.flags |= IOSQE_BUFFER_SELECT;
  entry.buf_group = buffer_group;
  entry.user_data = static_cast<std::uint64_t>(fd);
}

void echo_client::send(int fd) {
  static constexpr std::array<std::byte, message_size> message{};
  io_uring_sqe& entry = next_entry();
  io_uring_prep_send(&entry, fd, message.data(), message.size(), MSG_NOSIGNAL);
  entry.flags |= IOSQE_CQE_SKIP_SUCCESS;
  entry.user_data = sent;
}

void echo_client::add(skua::unique_fd end) {
  receive(end.get());
  ends_.push_back(end.release());
}

// A message this small comes whole.
std::uint64_t echo_client::exchange_until(clock_type::time_point end) {
  std::uint64_t messages = 0;
  for (const int fd : ends_) send(fd);
  for (std::size_t on_their_way = ends_.size(); on_their_way > 0;) {
    const std::size_t wanted = how_ == manner::bursts ? on_their_way : 1;
    const int answer = io_uring_submit_and_wait(&ring_, static_cast<unsigned>(wanted));
    require(answer >= 0 || answer == -EINTR, "io_uring_submit_and_wait");
    const bool over = clock_type::now() >= end;
    unsigned head = 0;
    unsigned taken = 0;
    io_uring_cqe* one = nullptr;
    io_uring_for_each_cqe(&ring_, head, one) {
      ++taken;
      require(one->user_data != sent, "send by the client");
      const auto fd = static_cast<int>(one->user_data);
      if (one->res == message_size) {
        give_back(static_cast<std::uint16_t>(one->flags >> IORING_CQE_BUFFER_SHIFT));
        ++messages;
        if (over)
          --on_their_way;
        else
          send(fd);
      } else {
        require(one->res == -ENOBUFS, "recv by the client");
      }
      if ((one->flags & IORING_CQE_F_MORE) == 0) receive(fd);
    }
    io_uring_cq_advance(&ring_, taken);
  }
  return messages;
}

// --- a round

load_result echo_server::load(std::chrono::nanoseconds time) {
  const double cpu_before = seat_.cpu_time();
  if (seat_.calls() != nullptr) seat_.calls()->start();
  const auto begin = clock_type::now();
  load_result result;
  result.messages = static_cast<double>(client_->exchange_until(begin + time));
  result.seconds = seconds_of(clock_type::now() - begin);
  std::this_thread::sleep_for(1ms);  // until the server sleeps
  if (seat_.calls() != nullptr) result.calls = static_cast<double>(seat_.calls()->stop());
  result.cpu_seconds = (seat_.cpu_time() - cpu_before) / 1e9;
  return result;
}

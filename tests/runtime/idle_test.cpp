// tests/runtime/idle_test.cpp: while there is nothing to do, no thread of a runtime wakes up.
#include "skua/base/sanitizer.hpp"
#include "skua/skua.hpp"
#include "support/pipes.hpp"
#include "support/shared_gate.hpp"
#include "support/started.hpp"
#include "support/thread_state.hpp"
#include "support/thread_watch.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using skua::spawn;
using skua::task;
using skua_test::shared_gate;
using skua_test::started;

using seconds = std::chrono::duration<double>;
using thread_id = pid_t;

/// The threads of this process whose name begins with `prefix`, and their names.
std::map<thread_id, std::string> threads_called(const std::string& prefix) {
  std::map<thread_id, std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(entry.path() / "comm");
    std::string name;
    if (std::getline(file, name) && name.starts_with(prefix))
      found[std::stoi(entry.path().filename())] = name;
  }
  return found;
}

/// How often a thread went to sleep so far.
std::uint64_t sleeps_of(thread_id whom) {
  std::ifstream file("/proc/self/task/" + std::to_string(whom) + "/status");
  const std::string wanted = "voluntary_ctxt_switches:";
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(wanted)) return std::stoull(line.substr(wanted.size()));
  ADD_FAILURE() << "thread " << whom << " has gone";
  return 0;
}

std::map<thread_id, std::uint64_t> sleeps_of(const std::map<thread_id, std::string>& all) {
  std::map<thread_id, std::uint64_t> counts;
  for (const auto& [id, name] : all) counts[id] = sleeps_of(id);
  return counts;
}

/// Work has ended, but threads may be on their way to sleep still: until all have slept for three
/// tenths of a second.
void wait_until_settled(const std::map<thread_id, std::string>& all) {
  auto before = sleeps_of(all);
  int quiet = 0;
  for (int i = 0; i < 300 && quiet < 3; ++i) {
    std::this_thread::sleep_for(seconds(0.1));
    const auto now = sleeps_of(all);
    const bool asleep = std::ranges::all_of(
        all, [](const auto& one) { return skua_test::sleeps_in_kernel(one.first); });
    quiet = asleep && now == before ? quiet + 1 : 0;
    before = now;
  }
}

task<> chatter(int turns) {
  for (int i = 0; i < turns; ++i) co_await skua::yield();
}

task<> burst() {
  std::vector<skua::join_handle<void>> all;
  all.reserve(200);
  for (int i = 0; i < 200; ++i) all.push_back(spawn(chatter(100)));
  for (auto& one : all) co_await std::move(one);
}

task<> wait_at(shared_gate& closed) {
  co_await shared_gate::wait(closed);
}

/// Calls that are all under way at once, so that the pool has so many threads.
task<> fill_pool(int threads) {
  std::atomic<int> under_way = 0;
  auto meet = [](std::atomic<int>& there, int all) {
    ++there;
    there.notify_all();
    for (int seen = there; seen < all; seen = there) there.wait(seen);
  };
  std::vector<skua::join_handle<void>> calls;
  calls.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i)
    calls.push_back(spawn(skua::spawn_blocking(meet, std::ref(under_way), threads)));
  for (auto& one : calls) co_await std::move(one);
}

/// A runtime that has done something, and is idle since. Its threads are called idle-<workers>...
class idle_runtime {
public:
  explicit idle_runtime(std::size_t workers) : name_("idle" + std::to_string(workers)) {
    skua::config with;
    with.workers = workers;
    with.name = name_;
    with.blocking_keep_alive = 3'600'000'000'000;
    with.hooks = &watch_;
    rt_ = std::make_unique<skua::runtime>(started(with));
    watch_.started.wait(static_cast<int>(workers));  // and have their names
    rt_->block_on(burst());
    rt_->block_on(fill_pool(3));
    for (int i = 0; i < 10; ++i) rt_->spawn(wait_at(closed_)).detach();
    closed_.await_waiters(10);
  }
  idle_runtime(const idle_runtime&) = delete;
  idle_runtime& operator=(const idle_runtime&) = delete;
  ~idle_runtime() { rt_->shutdown(); }

  [[nodiscard]] std::map<thread_id, std::string> threads() const { return threads_called(name_); }

private:
  const std::string name_;
  skua_test::thread_watch watch_;
  shared_gate closed_;
  std::unique_ptr<skua::runtime> rt_;
};

// All at once, since each takes five seconds of doing nothing.
class idle : public testing::Test {
protected:
  idle() {
    for (const std::size_t workers : {1U, 2U, 4U})
      all_.push_back(std::make_unique<idle_runtime>(workers));
    for (const auto& one : all_) threads_.merge(one->threads());
    wait_until_settled(threads_);
  }

  std::vector<std::unique_ptr<idle_runtime>> all_;
  std::map<thread_id, std::string> threads_;
};

TEST_F(idle, no_thread_wakes_up_for_five_seconds) {
  ASSERT_EQ(threads_.size(), 1U + 2 + 4 + 3 * 3) << "workers and threads of the pools";
  const auto begun = std::chrono::steady_clock::now();
  const auto before = sleeps_of(threads_);
  std::this_thread::sleep_for(seconds(5));
  const auto after = sleeps_of(threads_);
  const seconds length = std::chrono::steady_clock::now() - begun;
  // Under ThreadSanitizer each looks once a second for signals that it keeps back.
  const std::uint64_t allowed =
      skua::built_with_tsan ? static_cast<std::uint64_t>(length.count()) + 2 : 0;
  for (const auto& [id, name] : threads_) EXPECT_LE(after.at(id), before.at(id) + allowed) << name;
}

/// Each byte comes back at once, so that workers stay awake for the next one.
task<> echo(int fd, int messages) {
  std::array<std::byte, 1> byte{};
  for (int i = 0; i < messages; ++i) {
    EXPECT_EQ(co_await skua::io::recv(fd, byte), 1);
    EXPECT_EQ(co_await skua::io::send(fd, byte), 1);
  }
}
task<> talk(int fd, int peer) {
  constexpr int messages = 500;
  auto answers = spawn(echo(peer, messages));
  std::array<std::byte, 1> byte{};
  for (int i = 0; i < messages; ++i) {
    EXPECT_EQ(co_await skua::io::send(fd, byte), 1);
    EXPECT_EQ(co_await skua::io::recv(fd, byte), 1);
  }
  co_await std::move(answers);
}

/// From 200 ms after the last message on, for half a second.
std::uint64_t sleeps_after_a_talk(skua::runtime& rt,
                                  const std::map<thread_id, std::string>& threads) {
  const skua_test::socket_pair ends;
  rt.block_on(talk(ends.first(), ends.second()));
  std::this_thread::sleep_for(seconds(0.2));
  const auto before = sleeps_of(threads);
  std::this_thread::sleep_for(seconds(0.5));
  const auto after = sleeps_of(threads);
  std::uint64_t all = 0;
  for (const auto& [id, name] : threads) all += after.at(id) - before.at(id);
  return all;
}

// A thread that got no processor for 200 ms is late, and no fault of ours: one talk in ten will do.
TEST(after_an_echo, no_worker_wakes_up_after_200_ms) {
  if (skua::built_with_tsan) GTEST_SKIP() << "threads look for signals once a second there";
  skua_test::thread_watch watch;
  skua::config with;
  with.workers = 2;
  with.name = "echo";
  with.hooks = &watch;
  skua::runtime rt = started(with);
  watch.started.wait(2);  // and have their names
  const auto threads = threads_called("echo");
  ASSERT_EQ(threads.size(), 2U);
  std::uint64_t fewest = sleeps_after_a_talk(rt, threads);
  for (int i = 1; i < 10 && fewest > 0; ++i)
    fewest = std::min(fewest, sleeps_after_a_talk(rt, threads));
  EXPECT_EQ(fewest, 0U);
}

/// strace, attached to some threads of this process; its report is in a file.
class traced {
public:
  explicit traced(const std::map<thread_id, std::string>& threads) : threads_(threads.size()) {
    std::vector<std::string> words = {"strace", "-o", report_};
    for (const auto& [id, name] : threads) words.insert(words.end(), {"-p", std::to_string(id)});
    std::vector<char*> command;
    for (std::string& word : words) command.push_back(word.data());
    command.push_back(nullptr);
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) return;
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(ends[1], 2);
      ::close(ends[0]);
      ::execvp(command[0], command.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    says_ = ::fdopen(ends[0], "r");
  }
  traced(const traced&) = delete;
  traced& operator=(const traced&) = delete;
  ~traced() {
    stop();
    if (says_ != nullptr) std::fclose(says_);
    std::filesystem::remove(report_);
  }

  /// True when it has attached to all threads; false if it cannot.
  bool attaches() {
    char line[256];
    std::size_t attached = 0;
    while (says_ != nullptr && std::fgets(line, sizeof line, says_) != nullptr)
      if (std::string_view(line).contains("attached") && ++attached == threads_) return true;
    return false;
  }

  /// By thread: what it has done so far.
  [[nodiscard]] std::map<thread_id, std::vector<std::string>> lines() const {
    std::map<thread_id, std::vector<std::string>> found;
    std::ifstream file(report_);
    for (std::string line; std::getline(file, line);) found[std::stoi(line)].push_back(line);
    return found;
  }

private:
  void stop() {
    if (child_ <= 0) return;
    ::kill(child_, SIGINT);
    ::waitpid(child_, nullptr, 0);
    child_ = -1;
  }

  const std::size_t threads_;
  const std::string report_ = "/tmp/skua_idle_" + std::to_string(::getpid());
  pid_t child_ = -1;
  std::FILE* says_ = nullptr;
};

TEST_F(idle, no_thread_makes_a_system_call) {
  if constexpr (skua::built_with_asan || skua::built_with_tsan)
    GTEST_SKIP() << "a process that is traced cannot look for leaks";
  traced by_strace(threads_);
  if (!by_strace.attaches()) GTEST_SKIP() << "strace cannot be used here";
  // Attaching interrupts whatever a thread waits in. The kernel resumes most of it; a wait for an
  // epoll ends, one in a ring does on some kernels, and the thread goes back to sleep once.
  // And strace is a process of its own, which may have to wait before it writes that down.
  auto before = by_strace.lines();
  int quiet = 0;
  for (int i = 0; i < 100 && quiet < 4; ++i) {
    std::this_thread::sleep_for(seconds(0.2));
    auto now = by_strace.lines();
    quiet = std::exchange(before, now) == now ? quiet + 1 : 0;
  }
  std::this_thread::sleep_for(seconds(1));
  auto after = by_strace.lines();
  for (const auto& [id, name] : threads_) {
    EXPECT_LE(before[id].size(), 10U) << name;
    EXPECT_EQ(after[id].size(), before[id].size()) << name << ": " << after[id].back();
  }
}

}  // namespace

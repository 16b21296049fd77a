// tests/support/processes.hpp: children for tests, and a look at those that are left.
#pragma once

#include "skua/skua.hpp"

#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <span>
#include <string>
#include <utility>

namespace skua_test {

/// A program that the shell runs.
inline skua::process::command shell(std::string script) {
  skua::process::command made("/bin/sh");
  made.arg("-c").arg(std::move(script));
  return made;
}

/// This process has none, neither alive nor dead.
inline bool has_no_children() {
  siginfo_t one{};
  return ::waitid(P_ALL, 0, &one, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
}

/// It has ended, and whoever has to has not taken its end yet.
inline bool is_zombie(pid_t id) {
  std::ifstream about("/proc/" + std::to_string(id) + "/stat");
  std::string number;
  std::string name;
  std::string state;
  return about >> number >> name >> state && state == "Z";
}

/// Looks until it holds, for a minute at most; whether it does.
template <typename Condition>
skua::task<bool> soon(Condition holds) {
  using namespace std::chrono_literals;
  for (int i = 0; i < 60'000; ++i) {
    if (holds()) co_return true;
    co_await skua::sleep(1ms);
  }
  co_return false;
}

/// All that can be read.
inline skua::task<std::string> all_of(const skua::io::pipe_reader& from) {
  std::string text;
  char some[1'024];
  for (;;) {
    const auto got = skua::or_throw(co_await from.read(std::as_writable_bytes(std::span(some))));
    if (got == 0) co_return text;
    text.append(some, got);
  }
}

}  // namespace skua_test

// tests/fs/files.hpp: makes files and directories, and looks at them, by other means than ours.
#pragma once

#include "skua/driver/fault_plan.hpp"
#include "skua/runtime/spawn.hpp"
#include "skua/time/sleep.hpp"
#include "support/started.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace skua_test {

inline void make_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string all;
  for (std::array<char, 65'536> some{}; file;
       all.append(some.data(), static_cast<std::size_t>(file.gcount())))
    file.read(some.data(), some.size());
  return all;
}

/// For thousands of files: no disk that others use, too, if that can be had.
inline std::filesystem::path in_memory() {
  const std::filesystem::path memory = "/dev/shm";
  return ::access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
}

inline std::set<std::string> names_in(const std::string& directory) {
  std::set<std::string> all;
  for (const auto& one : std::filesystem::directory_iterator(directory))
    all.insert(one.path().filename().string());
  return all;
}

/// Bytes that do not repeat soon.
inline std::vector<std::byte> noise(std::size_t length, std::uint32_t seed = 1) {
  std::vector<std::byte> made(length);
  for (std::byte& one : made) {
    seed = seed * 1'664'525U + 1'013'904'223U;
    one = static_cast<std::byte>(seed >> 24);
  }
  return made;
}

/// Runs `scenario()`, which gives a task, again and again: the first time its first operation is
/// held up and the task stopped meanwhile, then its second, and so on, until one comes through.
/// Calls `look(number, stopped)` after each. Gives how many were held up.
template <typename Scenario, typename Look>
int stop_at_each_operation(const kind& which, Scenario scenario, Look look) {
  using namespace std::chrono_literals;
  for (int number = 1;; ++number) {
    skua::fault_plan plan;
    plan.delay(static_cast<std::uint64_t>(number), 5ms);
    skua::config settings = which.settings();
    settings.faults = &plan;
    auto rt = started(settings);
    auto body = [&]() -> skua::task<bool> {
      auto running = skua::spawn(scenario());
      while (!running.done() && plan.begun() < static_cast<std::uint64_t>(number))
        co_await skua::sleep(100us);
      running.abort();
      const auto end = co_await running.outcome();
      co_return end.stopped();
    };
    const bool stopped = rt.block_on(body());
    look(number, stopped);
    if (plan.happened() == 0) return number - 1;
  }
}

}  // namespace skua_test

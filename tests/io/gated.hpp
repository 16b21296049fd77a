// tests/io/gated.hpp: a reader and a writer in memory that wait at a gate before each step.
#pragma once

#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "support/gate.hpp"
#include "support/pipes.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace skua_test {

/// Gives a text a few bytes at a time. What waits has read nothing; once the gate is open the read
/// is done whoever wants its result, as one of the kernel's is.
class gated_reader {
public:
  gated_reader(std::string text, std::size_t piece) : text_(std::move(text)), piece_(piece) {}

  skua::task<skua::result<std::size_t>> read(std::span<std::byte> into) {
    co_await gate::wait(at);
    const std::size_t count = std::min({piece_, into.size(), text_.size() - given_});
    std::ranges::copy(bytes_of(text_).subspan(given_, count), into.begin());
    given_ += count;
    co_return count;
  }

  gate at;

private:
  std::string text_;
  std::size_t piece_;
  std::size_t given_ = 0;
};

/// Takes a few bytes at a time, in the same way.
class gated_writer {
public:
  explicit gated_writer(std::size_t piece) : piece_(piece) {}

  skua::task<skua::result<std::size_t>> write(std::span<const std::byte> from) {
    co_await gate::wait(at);
    const std::size_t count = std::min(piece_, from.size());
    taken += text_of(from.first(count));
    co_return count;
  }

  gate at;
  std::string taken;

private:
  std::size_t piece_;
};

}  // namespace skua_test

// skua/io/limit.hpp: the first so many bytes of a stream, as a stream.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/io/async_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace skua::inline SKUA_ABI::io {

/// See limit(). A reader that is one reference, or has the other reader for itself.
template <async_reader Reader>
class limited_reader {
public:
  /// Use io::limit().
  limited_reader(Reader&& from, std::uint64_t most)
      : from_(std::forward<Reader>(from)), left_(most) {}

  /// 0 at the end of the other reader, or when so many bytes were read. Suspends, fails and loses
  /// bytes as a read of that does.
  [[nodiscard]] task<result<std::size_t>> read(std::span<std::byte> into) {
    if (left_ < into.size()) into = into.first(static_cast<std::size_t>(left_));
    if (into.empty()) co_return std::size_t{0};
    const result<std::size_t> got = co_await from_.read(into);
    if (got.has_value()) left_ -= *got;
    co_return got;
  }

  /// How many bytes may still come.
  [[nodiscard]] std::uint64_t left() const noexcept { return left_; }
  /// What it reads from.
  [[nodiscard]] std::remove_reference_t<Reader>& inner() noexcept { return from_; }

private:
  Reader from_;
  std::uint64_t left_;
};

/// `auto body = io::limit(from, length);` a reader of the next `most` bytes and no more: what comes
/// after them stays with `from`. Borrows `from` if that has a name, and has it for itself if not.
template <async_reader Reader>
[[nodiscard]] limited_reader<Reader> limit(Reader&& from, std::uint64_t most) {
  return {std::forward<Reader>(from), most};
}

}  // namespace skua::inline SKUA_ABI::io

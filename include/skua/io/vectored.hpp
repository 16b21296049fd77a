// skua/io/vectored.hpp: several pieces of memory, read or written in one go.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/io/async_reader.hpp"
#include "skua/io/async_writer.hpp"
#include "skua/io/over_descriptor.hpp"
#include "skua/io/stream.hpp"

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <span>

namespace skua::inline SKUA_ABI::io {

/// The first pieces that are not empty, as the kernel takes them: 16, which is enough to make the
/// call worth while. A value that borrows them.
class [[gnu::visibility("default")]] iovec_list {
public:
  /// What is left of them behind `skip` bytes.
  explicit iovec_list(std::span<const std::span<const std::byte>> pieces,
                      std::size_t skip = 0) noexcept;
  /// The same for rooms to read into.
  explicit iovec_list(std::span<const std::span<std::byte>> rooms) noexcept;

  /// There is nothing to read or write.
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  /// What readv(2) and writev(2) take. Valid as long as this.
  [[nodiscard]] std::span<const iovec> get() const noexcept {
    return std::span(list_).first(count_);
  }
  /// Not if it is empty.
  [[nodiscard]] std::span<std::byte> first() const noexcept {
    return {static_cast<std::byte*>(list_[0].iov_base), list_[0].iov_len};
  }

private:
  void add(const std::byte* from, std::size_t length) noexcept;

  std::array<iovec, 16> list_;
  std::size_t count_ = 0;
};

/// `co_await io::readv(from, rooms)`: one read that fills several rooms, one after the other; says
/// how many bytes it read in all, 0 at the end. Suspends as a read of `from` does, and as with that
/// nothing was read if it is stopped. From a reader that has no such read it fills the first room
/// that is not empty. `rooms` and what they point to are borrowed until it has ended.
template <async_reader Reader>
[[nodiscard]] task<result<std::size_t>> readv(Reader& from,
                                              std::span<const std::span<std::byte>> rooms) {
  const iovec_list list(rooms);
  if (list.empty()) co_return std::size_t{0};
  if constexpr (async_vectored_reader<Reader>)
    co_return co_await from.readv(list.get());
  else if constexpr (over_descriptor<Reader>)
    co_return co_await io::readv(descriptor_of(from), list.get());
  else
    co_return co_await from.read(list.first());
}

/// `co_await io::writev(to, pieces)`: one write of several pieces, one after the other, of which
/// the first `skip` bytes are left out; says how many bytes it took in all. Otherwise as readv().
template <async_writer Writer>
[[nodiscard]] task<result<std::size_t>> writev(Writer& to,
                                               std::span<const std::span<const std::byte>> pieces,
                                               std::size_t skip = 0) {
  const iovec_list list(pieces, skip);
  if (list.empty()) co_return std::size_t{0};
  if constexpr (async_vectored_writer<Writer>)
    co_return co_await to.writev(list.get());
  else if constexpr (over_descriptor<Writer>)
    co_return co_await io::writev(descriptor_of(to), list.get());
  else
    co_return co_await to.write(list.first());
}

}  // namespace skua::inline SKUA_ABI::io

// skua/io/async_reader.hpp: what bytes can be read from.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/awaitable.hpp"

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

struct iovec;

namespace skua::inline SKUA_ABI {

/// Something that gives a T, or a reference to one, when it is awaited.
template <typename Awaitable, typename T>
concept gives =
    awaitable<Awaitable> && std::same_as<std::remove_cvref_t<await_result_t<Awaitable>>, T>;

/// A source of bytes: `co_await from.read(room)` gives a result<std::size_t>, how many bytes it has
/// put at the front of the room: at least one, unless there was no room, or 0 at the end, and then
/// again and again. The room is borrowed until the read has ended. One read at a time.
///
/// Sockets, files, pipes, duplex ends and everything of skua::io that ends in _reader are such. A
/// read that is stopped has read nothing. One that loses a race in the moment it ends has read, and
/// what it read is lost, if it comes from the kernel: see skua::race(). Through a buffered_reader
/// nothing is.
template <typename Reader>
concept async_reader = requires(Reader& from, std::span<std::byte> room) {
  { from.read(room) } -> gives<result<std::size_t>>;
};

/// One that can also fill several rooms at a time, one after the other.
template <typename Reader>
concept async_vectored_reader =
    async_reader<Reader> && requires(Reader& from, std::span<const iovec> rooms) {
      { from.readv(rooms) } -> gives<result<std::size_t>>;
    };

}  // namespace skua::inline SKUA_ABI

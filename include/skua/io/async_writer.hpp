// skua/io/async_writer.hpp: what bytes can be written to.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/io/async_reader.hpp"

#include <cstddef>
#include <span>

namespace skua::inline SKUA_ABI {

/// A target of bytes: `co_await to.write(bytes)` gives a result<std::size_t>, how many from the
/// front it has taken: at least one, unless there were none. The bytes are borrowed until the write
/// has ended. One write at a time, and a read may be under way beside it. A write that is stopped
/// has written nothing.
template <typename Writer>
concept async_writer = requires(Writer& to, std::span<const std::byte> bytes) {
  { to.write(bytes) } -> gives<result<std::size_t>>;
};

/// One that can also take several pieces at a time, one after the other.
template <typename Writer>
concept async_vectored_writer =
    async_writer<Writer> && requires(Writer& to, std::span<const iovec> pieces) {
      { to.writev(pieces) } -> gives<result<std::size_t>>;
    };

/// One that can say that nothing more will come, while it may still be read from:
/// `co_await to.shutdown_write()` gives a result<void>. The other side then reads the end.
template <typename Writer>
concept async_half_closable = async_writer<Writer> && requires(Writer& to) {
  { to.shutdown_write() } -> gives<result<void>>;
};

/// Both directions at once: sockets, duplex ends.
template <typename Stream>
concept async_stream = async_reader<Stream> && async_writer<Stream>;

}  // namespace skua::inline SKUA_ABI

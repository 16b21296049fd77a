// skua/io/copy.hpp: everything from one stream to another.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/error.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/task.hpp"
#include "skua/io/async_reader.hpp"
#include "skua/io/async_writer.hpp"
#include "skua/io/over_descriptor.hpp"
#include "skua/io/transfer.hpp"
#include "skua/io/write_all.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>
#include <vector>

namespace skua::inline SKUA_ABI::io {

/// A reader whose bytes can be looked at before they are used up, as a buffered_reader's.
template <typename Reader>
concept async_buffered_reader = async_reader<Reader> && requires(Reader& from) {
  { from.fill_buffer() } -> gives<result<std::span<const std::byte>>>;
  from.consume(std::size_t{1});
};

/// What is read until the end of a buffered reader, from its own buffer: a stop loses nothing.
template <async_buffered_reader Reader, async_writer Writer>
task<result<std::uint64_t>> copy_from_buffer(Reader& from, Writer& to) {
  std::uint64_t moved = 0;
  for (;;) {
    const auto bytes = co_await from.fill_buffer();
    if (!bytes.has_value()) co_return fail(bytes.error());
    if (bytes->empty()) co_return moved;
    const result<std::size_t> took = co_await to.write(*bytes);
    if (!took.has_value()) co_return fail(took.error());
    if (*took == 0) co_return fail(std::errc::io_error);
    from.consume(*took);
    moved += *took;
  }
}

/// The same for any reader, through a buffer in between.
template <async_reader Reader, async_writer Writer>
task<result<std::uint64_t>> copy_through_buffer(Reader& from, Writer& to) {
  constexpr std::size_t at_a_time = 65'536;
  std::vector<std::byte> buffer(at_a_time);
  std::uint64_t moved = 0;
  for (;;) {
    const result<std::size_t> got = co_await from.read(buffer);
    if (!got.has_value()) co_return fail(got.error());
    if (*got == 0) co_return moved;
    const result<void> written = co_await io::write_all(to, std::span(buffer).first(*got));
    if (!written.has_value()) co_return fail(written.error());
    moved += *got;
  }
}

/// `co_await io::copy(from, to)`: reads until the end, writes everything, and says how many bytes
/// that was. Suspends as the reads and writes do. Both are borrowed until it has ended; `to` is
/// neither flushed nor shut down.
///
/// Between two that are nothing but descriptors (see over_descriptor) the kernel moves the bytes,
/// where it can: see transfer(). Otherwise they go through a buffer of 64 KiB, allocated once, or
/// through the reader's own if it has one.
///
/// Fails as either does, or with std::errc::io_error if the writer takes nothing; the count is lost
/// then. If it fails or is stopped, what was read and not written is lost, 64 KiB at most, or what
/// the kernel has (see transfer()); nothing is, from a buffered_reader. Throws std::bad_alloc.
template <async_reader Reader, async_writer Writer>
[[nodiscard]] task<result<std::uint64_t>> copy(Reader& from, Writer& to) {
  std::uint64_t before = 0;
  if constexpr (over_descriptor<Reader> && over_descriptor<Writer>) {
    const result<transferred> done = co_await transfer(descriptor_of(from), descriptor_of(to));
    if (!done.has_value()) co_return fail(done.error());
    if (done->at_end()) co_return done->bytes();
    before = done->bytes();
  }
  if constexpr (async_buffered_reader<Reader>) {
    co_return co_await copy_from_buffer(from, to);
  } else {
    const result<std::uint64_t> rest = co_await copy_through_buffer(from, to);
    if (!rest.has_value()) co_return fail(rest.error());
    co_return before + *rest;
  }
}

}  // namespace skua::inline SKUA_ABI::io

// skua/io/split.hpp: the two directions of a stream, for two tasks.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"
#include "skua/io/async_reader.hpp"
#include "skua/io/async_writer.hpp"
#include "skua/io/over_descriptor.hpp"

#include <atomic>
#include <cstddef>
#include <span>
#include <utility>

namespace skua::inline SKUA_ABI::io {

/// A stream and how many of its halves there are.
template <async_stream Stream>
struct shared_stream {
  explicit shared_stream(Stream&& from) : stream(std::move(from)) {}
  Stream stream;
  std::atomic<int> halves = 2;
};

/// A stream that both its halves hold, and that ends with the last of them. A half is moved; moved
/// from, it may be assigned to or destroyed. Both can be used at the same time, on two threads.
template <async_stream Stream>
class stream_half {
public:
  /// Use io::split().
  explicit stream_half(shared_stream<Stream>& of) noexcept : held_(&of) {}
  /// `from` has no stream then.
  stream_half(stream_half&& from) noexcept : held_(std::exchange(from.held_, nullptr)) {}
  /// The half that it was is dropped.
  stream_half& operator=(stream_half from) noexcept {
    std::swap(held_, from.held_);
    return *this;
  }
  ~stream_half() {
    // order: [stream_half.end] acq_rel: all uses by the one half, to the other, which destroys it.
    if (held_ != nullptr && held_->halves.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete held_;
  }

  /// The stream itself: to ask for its address, say. Whoever uses it thinks of the other half.
  [[nodiscard]] Stream& inner() const noexcept {
    check(held_ != nullptr, "a half of a stream is used while it has one");
    return held_->stream;
  }
  /// Of the stream, if that is nothing but a descriptor: see over_descriptor.hpp.
  [[nodiscard]] const descriptor& io_descriptor() const noexcept
    requires over_descriptor<Stream>
  {
    return descriptor_of(inner());
  }
  /// Both are halves of one stream.
  [[nodiscard]] bool is_of_the_same_stream(const stream_half& other) const noexcept {
    return held_ != nullptr && held_ == other.held_;
  }

private:
  shared_stream<Stream>* held_;
};

/// A reader: what it gives, when it suspends and what a stop loses are the stream's affair.
template <async_stream Stream>
class read_half : public stream_half<Stream> {
public:
  using stream_half<Stream>::stream_half;
  /// The stream's own.
  [[nodiscard]] auto read(std::span<std::byte> into) { return this->inner().read(into); }
  /// The stream's own, if it has that.
  [[nodiscard]] auto readv(std::span<const iovec> into)
    requires async_vectored_reader<Stream>
  {
    return this->inner().readv(into);
  }
};

/// A writer. Its end says nothing to the other side while the read half is there: shutdown_write().
template <async_stream Stream>
class write_half : public stream_half<Stream> {
public:
  using stream_half<Stream>::stream_half;
  /// The stream's own.
  [[nodiscard]] auto write(std::span<const std::byte> from) { return this->inner().write(from); }
  /// The stream's own, if it has that.
  [[nodiscard]] auto writev(std::span<const iovec> from)
    requires async_vectored_writer<Stream>
  {
    return this->inner().writev(from);
  }
  /// The stream's own, if it has that.
  [[nodiscard]] auto shutdown_write()
    requires async_half_closable<Stream>
  {
    return this->inner().shutdown_write();
  }
};

/// `auto [reader, writer] = io::split(std::move(socket));` gives a read_half and a write_half that
/// own the stream together. The stream allows a read and a write at the same time on two threads,
/// as sockets, duplex ends and descriptors do. One allocation; throws std::bad_alloc, and the
/// stream is lost then.
template <async_stream Stream>
[[nodiscard]] std::pair<read_half<Stream>, write_half<Stream>> split(Stream stream) {
  auto& shared = *new shared_stream<Stream>(std::move(stream));
  return {read_half<Stream>(shared), write_half<Stream>(shared)};
}

/// The stream that was split. Both are halves of the same one, and nothing is under way on it.
template <async_stream Stream>
[[nodiscard]] Stream reunite(read_half<Stream> one, write_half<Stream> other) {
  check(one.is_of_the_same_stream(other), "halves of one stream are reunited");
  return std::move(one.inner());
}

}  // namespace skua::inline SKUA_ABI::io

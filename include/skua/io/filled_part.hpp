// skua/io/filled_part.hpp: a container that is longer than what it holds while it is read into.
#pragma once

#include "skua/base/abi.hpp"

#include <cstddef>
#include <span>
#include <type_traits>

namespace skua::inline SKUA_ABI::io {

/// Bytes one after the other, as many as one likes: std::vector<std::byte>, std::string.
template <typename Container>
concept byte_container = requires(Container& all, std::size_t size) {
  all.resize(size);
  requires sizeof(*all.data()) == 1;
  requires std::is_trivially_copyable_v<std::remove_pointer_t<decltype(all.data())>>;
  requires std::is_same_v<decltype(all.size()), std::size_t>;
};

/// Adds bytes behind those that a container has. When this ends the container is as long as what it
/// holds, whichever way it ends.
template <byte_container Container>
class filled_part {
public:
  explicit filled_part(Container& of) noexcept : of_(of), begin_(of.size()), end_(begin_) {}
  filled_part(const filled_part&) = delete;
  filled_part& operator=(const filled_part&) = delete;
  ~filled_part() { of_.resize(end_); }  // never longer

  [[nodiscard]] std::size_t added() const noexcept { return end_ - begin_; }
  /// At most `most` bytes, and at least one if that is not 0. Throws what the container throws.
  [[nodiscard]] std::span<std::byte> make_room(std::size_t most) {
    if (of_.size() - end_ < least && of_.size() - end_ < most) {
      const std::size_t more = added() < first ? first : added();
      of_.resize(end_ + (more < most ? more : most));
    }
    const auto room = std::as_writable_bytes(std::span(of_.data(), of_.size())).subspan(end_);
    return room.first(room.size() < most ? room.size() : most);
  }
  void add(std::size_t count) noexcept { end_ += count; }

private:
  static constexpr std::size_t first = 4096;
  static constexpr std::size_t least = 1024;

  Container& of_;
  const std::size_t begin_;
  std::size_t end_;
};

}  // namespace skua::inline SKUA_ABI::io

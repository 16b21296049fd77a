// skua/io/over_descriptor.hpp: streams that are nothing but an open descriptor.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/io/descriptor.hpp"

#include <concepts>

namespace skua::inline SKUA_ABI::io {

/// An io::descriptor, or a type with `const io::descriptor& io_descriptor() const`. By having that
/// member a type says that it keeps neither bytes nor a position of its own: to read from it or
/// write to it is to read from or write to the descriptor. Then the kernel may do it without us,
/// as in io::copy().
template <typename Stream>
concept over_descriptor =
    std::same_as<std::remove_cvref_t<Stream>, descriptor> || requires(const Stream& stream) {
      { stream.io_descriptor() } -> std::same_as<const descriptor&>;
    };

/// The descriptor itself, or what io_descriptor() gives.
template <over_descriptor Stream>
[[nodiscard]] const descriptor& descriptor_of(const Stream& stream) noexcept {
  if constexpr (std::same_as<Stream, descriptor>)
    return stream;  // NOLINT(bugprone-return-const-ref-from-parameter): no temporary, see below
  else
    return stream.io_descriptor();
}
template <over_descriptor Stream>
const descriptor& descriptor_of(const Stream&& temporary) = delete;

}  // namespace skua::inline SKUA_ABI::io

// src/io/pipe.cpp: make a pipe; write until all is written.
#include "skua/io/pipe.hpp"

#include "skua/base/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace skua::inline SKUA_ABI::io {

task<result<void>> pipe_writer::write_all(std::span<const std::byte> from) const {
  while (!from.empty()) {
    const result<std::size_t> wrote = co_await end_.write(from);
    if (!wrote.has_value()) co_return fail(wrote.error());
    from = from.subspan(*wrote);
  }
  co_return {};
}

result<pipe_ends> pipe() noexcept {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(error_from_errno(errno));
  return pipe_ends(pipe_reader(unique_fd(ends[0])), pipe_writer(unique_fd(ends[1])));
}

}  // namespace skua::inline SKUA_ABI::io

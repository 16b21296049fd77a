// src/fs/copier.hpp: copies what is in one file to another, some of it at a time.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace skua::inline SKUA_ABI::fs {

/// From an open regular file to an open one that is empty. Everything blocks. For one thread at a
/// time.
class copier {
public:
  /// `in_kernel`: as long as the kernel can. `length`: of `from`, as far as it is known; it may
  /// grow meanwhile.
  copier(int from, int to, std::int64_t length, bool in_kernel) noexcept
      : from_(from), to_(to), length_(length), in_kernel_(in_kernel) {}

  /// Copies as much as takes some milliseconds; false at the end.
  [[nodiscard]] result<bool> step();
  /// Bytes of the copy, after the end.
  [[nodiscard]] std::int64_t length() const noexcept { return length_; }

private:
  [[nodiscard]] result<bool> find_data();
  [[nodiscard]] result<bool> end();
  [[nodiscard]] result<std::size_t> copy_some(std::size_t most);
  [[nodiscard]] result<std::size_t> copy_plainly(std::size_t most);

  int from_;
  int to_;
  std::int64_t length_;
  std::int64_t offset_ = 0;
  std::int64_t data_end_ = 0;  // no hole is known before
  bool in_kernel_;
  bool has_holes_ = true;  // or may have some
  std::vector<std::byte> buffer_;
};

}  // namespace skua::inline SKUA_ABI::fs

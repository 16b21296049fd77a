// src/fs/directory_batch.hpp: as many entries of a directory as one system call gives.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/result.hpp"
#include "skua/fs/file_kind.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace skua::inline SKUA_ABI::fs {

/// For one thread at a time.
class directory_batch {
public:
  struct entry {
    const char* name = nullptr;  // until the next fill()
    std::uint64_t inode = 0;
    file_kind kind = file_kind::unknown;
  };

  directory_batch() : bytes_(capacity) {}

  /// False at the end. Blocks. What was left of the batch before is gone.
  [[nodiscard]] result<bool> fill(int directory) noexcept;
  /// False if there are no more; "." and ".." are left out. Blocks only where the directory does
  /// not say what kind its entries are.
  [[nodiscard]] bool next(entry& into) noexcept;

private:
  static constexpr std::size_t capacity = std::size_t{64} << 10;

  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  int directory_ = -1;
};

}  // namespace skua::inline SKUA_ABI::fs

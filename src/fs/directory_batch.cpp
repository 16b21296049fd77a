// src/fs/directory_batch.cpp: reads the records that getdents64(2) writes.
#include "fs/directory_batch.hpp"

#include "io/file_call.hpp"
#include "skua/base/error.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <cstring>

namespace skua::inline SKUA_ABI::fs {
namespace {

bool is_dots(const char* name) noexcept {
  return std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0;
}

template <typename T>
T field(const std::byte* record, std::size_t offset) noexcept {
  T value;
  std::memcpy(&value, record + offset, sizeof value);
  return value;
}

file_kind kind_at(int directory, const char* name) noexcept {
  const auto seen = file_call::identify_at(directory, name, false);
  return seen ? kind_of_mode(seen->mode) : file_kind::unknown;
}

}  // namespace

result<bool> directory_batch::fill(int directory) noexcept {
  begin_ = end_ = 0;
  directory_ = directory;
  const auto got = file_call::entries(directory, bytes_);
  if (!got) return fail(got.error());
  end_ = *got;
  return end_ > 0;
}

bool directory_batch::next(entry& into) noexcept {
  while (begin_ < end_) {
    const std::byte* const record = bytes_.data() + begin_;
    begin_ += field<std::uint16_t>(record, offsetof(dirent64, d_reclen));
    into.name = reinterpret_cast<const char*>(record + offsetof(dirent64, d_name));
    if (is_dots(into.name)) continue;
    into.inode = field<std::uint64_t>(record, offsetof(dirent64, d_ino));
    const auto type = field<std::uint8_t>(record, offsetof(dirent64, d_type));
    into.kind = type == DT_UNKNOWN ? kind_at(directory_, into.name)
                                   : kind_of_mode(static_cast<std::uint32_t>(DTTOIF(type)));
    return true;
  }
  return false;
}

}  // namespace skua::inline SKUA_ABI::fs

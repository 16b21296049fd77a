// src/fs/copier.cpp: from one piece of data to the next, and over the holes between.
#include "fs/copier.hpp"

#include "io/file_call.hpp"
#include "skua/base/error.hpp"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <span>
#include <system_error>

namespace skua::inline SKUA_ABI::fs {
namespace {

constexpr std::size_t piece = std::size_t{16} << 20;         // between two looks at a stop
constexpr std::size_t buffer_size = std::size_t{256} << 10;  // that fits into a cache
constexpr std::int64_t everything = std::numeric_limits<std::int64_t>::max();

// The answers of a kernel, or of a file system, that leaves the copying to others.
bool is_refusal(const std::error_code& error) noexcept {
  return error == std::errc::cross_device_link || error == std::errc::invalid_argument ||
         error == std::errc::operation_not_supported ||
         error == std::errc::function_not_supported ||
         error == std::errc::operation_not_permitted || error == std::errc::text_file_busy;
}

}  // namespace

result<bool> copier::step() {
  for (std::size_t left = piece; left > 0;) {
    if (offset_ >= data_end_) {
      const auto found = find_data();
      if (!found) return fail(found.error());
      if (!*found) return end();
    }
    const auto most = static_cast<std::size_t>(
        std::min<std::int64_t>(static_cast<std::int64_t>(left), data_end_ - offset_));
    const auto got = copy_some(most);
    if (!got) return fail(got.error());
    if (*got == 0) return end();
    offset_ += static_cast<std::int64_t>(*got);
    left -= *got;
  }
  return true;
}

// False if there are only holes from here on.
result<bool> copier::find_data() {
  if (!has_holes_) {
    data_end_ = everything;
    return true;
  }
  const auto data = file_call::seek(from_, offset_, SEEK_DATA);
  if (!data && data.error() == std::errc::no_such_device_or_address) {
    // A file that does not know its length, as those of /proc, says the same.
    if (length_ > 0) return false;
    has_holes_ = false;
    return find_data();
  }
  const auto hole = data ? file_call::seek(from_, *data, SEEK_HOLE) : data;
  if (!hole) {
    if (hole.error() != std::errc::invalid_argument) return fail(hole.error());
    has_holes_ = false;  // the file system does not say
    return find_data();
  }
  offset_ = *data;
  data_end_ = *hole;
  return true;
}

// With the hole at the end, if there is one. The file may be shorter by now than it was.
result<bool> copier::end() {
  const auto known = file_call::seek(from_, 0, SEEK_END);
  length_ = has_holes_ && known ? std::max(offset_, *known) : offset_;
  if (const auto cut = file_call::truncate(to_, length_); !cut) return fail(cut.error());
  return false;
}

result<std::size_t> copier::copy_some(std::size_t most) {
  if (in_kernel_) {
    const auto got = file_call::copy_range(from_, to_, offset_, most);
    if (got && *got > 0) return got;
    if (!got && !is_refusal(got.error())) return got;
    in_kernel_ = false;  // nothing, of a file that has something: some of /proc are so
  }
  return copy_plainly(most);
}

result<std::size_t> copier::copy_plainly(std::size_t most) {
  buffer_.resize(buffer_size);
  const auto got =
      file_call::read_at(from_, std::span(buffer_).first(std::min(most, buffer_size)), offset_);
  if (!got) return got;
  for (std::size_t done = 0; done < *got;) {
    const auto put = file_call::write_at(to_, std::span(buffer_).first(*got).subspan(done),
                                         offset_ + static_cast<std::int64_t>(done));
    if (!put) return put;
    if (*put == 0) return fail(std::errc::io_error);
    done += *put;
  }
  return got;
}

}  // namespace skua::inline SKUA_ABI::fs

// src/net/hosts_file.cpp: read through the driver, parsed once for each change.
#include "net/hosts_file.hpp"

#include "net/host_name.hpp"
#include "skua/base/error.hpp"
#include "skua/driver/unique_fd.hpp"
#include "skua/io/file.hpp"
#include "skua/io/stream.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstddef>
#include <span>
#include <utility>

namespace skua::inline SKUA_ABI::net {
namespace {

constexpr std::size_t longest_file = std::size_t{64} * 1024 * 1024;
constexpr std::string_view blank = " \t\r\v\f";

std::string_view next_word(std::string_view& line) noexcept {
  line.remove_prefix(std::min(line.find_first_not_of(blank), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(blank));
  line.remove_prefix(word.size());
  return word;
}

void parse_line(std::string_view line, hosts_table& into) {
  line = line.substr(0, line.find('#'));
  const auto address = ip_address::parse(next_word(line));
  if (!address) return;
  for (std::string_view name = next_word(line); !name.empty(); name = next_word(line))
    into[lower_case(name)].push_back(*address);
}

}  // namespace

hosts_table parse_hosts(std::string_view text) {
  hosts_table made;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    parse_line(line, made);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return made;
}

task<hosts_file::stamp> hosts_file::look() {
  struct ::statx got{};
  const auto done = co_await io::statx(path_.c_str(), 0, STATX_INO | STATX_SIZE | STATX_MTIME, got);
  stamp made;
  if (!done) co_return made;
  made.inode = got.stx_ino;
  made.size = got.stx_size;
  made.seconds = got.stx_mtime.tv_sec;
  made.nanoseconds = got.stx_mtime.tv_nsec;
  co_return made;
}

task<result<std::string>> hosts_file::read_all() {
  constexpr std::size_t piece = std::size_t{16} * 1024;
  std::string text;
  const auto file = co_await io::open(path_.c_str(), O_RDONLY);
  if (!file) co_return fail(file.error());
  std::size_t length = 0;
  while (length < longest_file) {
    text.resize(length + piece);
    const auto room = std::as_writable_bytes(std::span(text)).subspan(length);
    const auto got = co_await io::read(file->get(), room, static_cast<std::int64_t>(length));
    if (!got) co_return fail(got.error());
    if (*got == 0) break;
    length += *got;
  }
  text.resize(length);
  co_return text;
}

task<std::optional<std::vector<ip_address>>> hosts_file::find(const std::string& name,
                                                              ip_family which) {
  if (path_.empty()) co_return std::nullopt;
  const auto held = co_await reading_.lock();
  const stamp now = co_await look();
  if (now != read_) {
    const result<std::string> text = co_await read_all();
    table_ = parse_hosts(text ? *text : std::string());
    read_ = text ? now : stamp();  // of before: a change since then is seen the next time
  }
  const auto known = table_.find(name);
  if (known == table_.end()) co_return std::nullopt;
  std::vector<ip_address> fitting;
  for (const ip_address& one : known->second)
    if (one.is_v4() == (which == ip_family::v4)) fitting.push_back(one);
  co_return fitting;
}

}  // namespace skua::inline SKUA_ABI::net

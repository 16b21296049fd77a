// src/fs/watcher.cpp: reads the records that inotify writes.
#include "skua/fs/watcher.hpp"

#include "fs/in_pool.hpp"
#include "fs/path_text.hpp"
#include "io/file_call.hpp"
#include "skua/coro/current_context.hpp"
#include "skua/coro/or_return.hpp"
#include "skua/coro/yield.hpp"

#include <sys/inotify.h>

#include <cstdint>
#include <cstring>
#include <span>

namespace skua::inline SKUA_ABI::fs {

static_assert(static_cast<std::uint32_t>(watch_kind::changes) ==
              (IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVE | IN_CREATE | IN_DELETE |
               IN_DELETE_SELF | IN_MOVE_SELF));
static_assert(IN_Q_OVERFLOW == 0x4000 && IN_IGNORED == 0x8000 && IN_ISDIR == 0x40000000);

result<watcher> watcher::create() {
  auto made = file_call::new_watcher();
  if (!made) return fail(made.error());
  return watcher(std::move(*made));
}

task<result<watch_id>> watcher::add(std::string path, watch_kind what) {
  co_await or_return(checked(path));
  const auto mask = static_cast<std::uint32_t>(what);
  const int id =
      co_await or_return(co_await in_pool(file_call::add_watch, fd_.get(), path.c_str(), mask));
  co_return static_cast<watch_id>(id);
}

task<result<void>> watcher::remove(watch_id which) {
  return in_pool(file_call::remove_watch, fd_.get(), static_cast<int>(which));
}

task<result<watch_event>> watcher::next() {
  while (begin_ == end_) {
    const std::size_t got = co_await or_return(co_await fd_.read(std::span(bytes_)));
    begin_ = 0;
    end_ = got;
    // Nobody would take what is returned now; it stays for the next call.
    const bool unwanted = co_await stop_requested();
    if (unwanted) co_await yield();  // which unwinds
  }
  co_return take();
}

async_generator<result<watch_event>> watcher::events() {
  for (bool more = true; more;) {
    result<watch_event> one = co_await next();
    more = one.has_value();
    co_yield std::move(one);
  }
}

watch_event watcher::take() {
  inotify_event head;
  const std::byte* const record = bytes_.data() + begin_;
  std::memcpy(&head, record, sizeof head);
  const auto* const text = reinterpret_cast<const char*>(record + sizeof head);
  std::string name(text, ::strnlen(text, head.len));  // there may be several zeros behind it
  begin_ += sizeof head + head.len;
  return {static_cast<watch_id>(head.wd), head.mask, head.cookie, std::move(name)};
}

}  // namespace skua::inline SKUA_ABI::fs

// src/fs/remove_all.cpp: one job after the other, until a tree is gone.
#include "skua/fs/remove_all.hpp"

#include "fs/in_pool.hpp"
#include "fs/path_text.hpp"
#include "fs/tree_remover.hpp"
#include "skua/coro/or_return.hpp"

#include <string_view>
#include <utility>

namespace skua::inline SKUA_ABI::fs {
namespace {

result<bool> remove_some(tree_remover* remover) {
  return remover->step();
}

// Both are where something else is; the kernel says so, but only when all in it is gone.
bool ends_with_dots(std::string_view path) noexcept {
  const std::string_view last = path.substr(path.rfind('/') + 1);
  return last == "." || last == "..";
}

}  // namespace

task<result<std::uint64_t>> remove_all(std::string path) {
  co_await or_return(checked(path));
  while (path.size() > 1 && path.back() == '/') path.pop_back();  // it would follow a link
  if (ends_with_dots(path)) co_return fail(std::errc::invalid_argument);
  tree_remover remover(std::move(path));
  bool more = true;
  while (more) more = co_await or_return(co_await in_pool(remove_some, &remover));
  co_return remover.count();
}

}  // namespace skua::inline SKUA_ABI::fs

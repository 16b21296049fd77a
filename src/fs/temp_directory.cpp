// src/fs/temp_directory.cpp: made with a name that nobody has, removed as a tree.
#include "skua/fs/temp_directory.hpp"

#include "fs/path_text.hpp"
#include "fs/tree_remover.hpp"
#include "fs/unique_name.hpp"
#include "skua/coro/or_return.hpp"
#include "skua/coro/shielded.hpp"
#include "skua/fs/remove_all.hpp"
#include "skua/io/file.hpp"

#include <utility>

namespace skua::inline SKUA_ABI::fs {
namespace {

constexpr unsigned entered_by_its_user = 0700;

// Without memory, it stays.
void remove_now(std::string path) noexcept {
  if (path.empty()) return;
  try {
    tree_remover remover(std::move(path));
    while (remover.step().value_or(false)) {
    }
  } catch (...) {
  }
}

task<result<void>> remove_tree(std::string path) {
  co_await or_return(co_await shielded(remove_all(std::move(path))));
  co_return {};
}

}  // namespace

task<result<temp_directory>> temp_directory::create(std::string in, std::string prefix) {
  co_await or_return(checked(in));
  co_await or_return(checked(prefix));
  for (int attempt = 0;; ++attempt) {
    std::string path = joined(in, unique_name(prefix, ""));
    const auto made = co_await shielded(io::mkdir(path.c_str(), entered_by_its_user));
    if (made) co_return temp_directory(std::move(path));
    const bool taken = made.error() == std::errc::file_exists;
    if (!taken || attempt == name_attempts) co_return fail(made.error());
  }
}

temp_directory& temp_directory::operator=(temp_directory&& from) noexcept {
  if (this == &from) return *this;
  remove_now(std::exchange(path_, std::exchange(from.path_, {})));
  return *this;
}

temp_directory::~temp_directory() {
  remove_now(std::move(path_));
}

std::string temp_directory::operator/(std::string_view name) const {
  return joined(path_, name);
}

task<result<void>> temp_directory::remove() && {
  return remove_tree(std::exchange(path_, {}));
}

}  // namespace skua::inline SKUA_ABI::fs

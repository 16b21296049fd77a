// src/driver/make_drivers.cpp: try io_uring for all workers; otherwise epoll for all.
#include "driver/make_drivers.hpp"

#include "driver/epoll/epoll_driver.hpp"
#include "driver/null_driver.hpp"
#include "driver/uring/prepare.hpp"
#include "driver/uring/uring_driver.hpp"

#include <cerrno>
#include <system_error>

namespace skua::inline SKUA_ABI {
namespace {

using drivers = std::vector<std::unique_ptr<driver>>;

std::string text_of(int error) {
  return std::generic_category().message(error);
}

void describe(const ring& one, driver_info& info) {
  info.submission_entries = one.submission_entries();
  info.completion_entries = one.completion_entries();
  info.ring_of_one_thread = one.use() == ring_use::one_thread;
  info.ring_send_zero_copy = one.supports(uring_code(op_code::send_zc));
  info.ring_futex = one.supports(uring_code(op_code::futex_wait));
  info.ring_ftruncate = one.supports(uring_code(op_code::ftruncate));
}

std::expected<drivers, int> make_uring(const driver_settings& how, driver_info& info) {
  drivers made;
  const ring_use by = how.one_thread_each ? ring_use::one_thread : ring_use::any_thread;
  while (made.size() < how.count) {
    auto one = uring_driver::make(how.rings, *how.time, *how.pool, by);
    if (!one) return std::unexpected(one.error());
    describe((*one)->get_ring(), info);
    made.push_back(std::move(*one));
  }
  return made;
}

std::expected<drivers, int> make_epoll(const driver_settings& how, fd_table& fds) {
  drivers made;
  while (made.size() < how.count) {
    auto one = epoll_driver::make(fds, *how.time, *how.pool);
    if (!one) return std::unexpected(one.error());
    made.push_back(std::move(*one));
  }
  return made;
}

drivers make_null(const driver_settings& how) {
  drivers made;
  while (made.size() < how.count) made.push_back(std::make_unique<null_driver>(*how.time));
  return made;
}

/// False if it is none of them.
bool read_name(std::string_view name, backend& into) {
  for (const backend one : {backend::automatic, backend::uring, backend::epoll, backend::none})
    if (name == name_of(one)) {
      into = one;
      return true;
    }
  return false;
}

std::expected<driver_set, driver_failure> finish(std::expected<drivers, int> made, backend used,
                                                 driver_info& info, const std::string& why) {
  if (!made) {
    const std::string message = "the " + std::string(name_of(used)) +
                                " driver does not work here: " + text_of(made.error()) + "; " + why;
    return std::unexpected(driver_failure(made.error(), message));
  }
  info.used = used;
  info.set_reason(why);
  return driver_set(nullptr, std::move(*made), info);
}

std::expected<driver_set, driver_failure> finish_epoll(const driver_settings& how,
                                                       driver_info& info, const std::string& why) {
  auto fds = std::make_unique<fd_table>();
  auto all = finish(make_epoll(how, *fds), backend::epoll, info, why);
  if (all) all->fds = std::move(fds);
  return all;
}

}  // namespace

std::expected<driver_set, driver_failure> make_drivers(const driver_settings& how,
                                                       const char* environment) {
  backend wanted = how.wanted;
  std::string why = "config::backend asks for it";
  if (wanted == backend::automatic && environment != nullptr && *environment != '\0') {
    why = "SKUA_BACKEND in the environment asks for it";
    if (!read_name(environment, wanted))
      return std::unexpected(driver_failure(
          EINVAL, "SKUA_BACKEND in the environment is none of automatic, uring, epoll, none"));
  }
  driver_info info;
  switch (wanted) {
    case backend::uring: {
      auto rings = make_uring(how, info);
      return finish(std::move(rings), backend::uring, info, why);
    }
    case backend::epoll:
      return finish_epoll(how, info, why);
    case backend::none:
      return finish(make_null(how), backend::none, info, why);
    case backend::automatic:
      break;
  }
  auto rings = make_uring(how, info);
  if (rings) return finish(std::move(rings), backend::uring, info, "io_uring works here");
  info = {};
  info.fell_back = true;
  return finish_epoll(how, info, "io_uring does not work here: " + text_of(rings.error()));
}

}  // namespace skua::inline SKUA_ABI

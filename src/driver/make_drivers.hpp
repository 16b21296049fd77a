// src/driver/make_drivers.hpp: which driver works here, and one for each worker.
#pragma once

#include "driver/driver.hpp"
#include "driver/epoll/fd_table.hpp"
#include "driver/offload_target.hpp"
#include "driver/uring/ring.hpp"
#include "skua/base/clock.hpp"
#include "skua/driver/driver_info.hpp"

#include <cstddef>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace skua::inline SKUA_ABI {

struct driver_settings {
  backend wanted = backend::automatic;
  ring_size rings;
  std::size_t count = 1;
  bool one_thread_each = false;  // which takes it over
  const clock* time = nullptr;
  offload_target* pool = nullptr;
};

struct driver_set {
  std::unique_ptr<fd_table> fds;  // outlives them; null if they need none
  std::vector<std::unique_ptr<driver>> each;
  driver_info info;
};

struct driver_failure {
  int error;  // an errno
  std::string message;
};

/// All of one kind. If `automatic` is wanted, `environment` (the value of SKUA_BACKEND, perhaps
/// null) decides; if that is silent, too, io_uring is tried, and epoll taken after any error.
[[nodiscard]] std::expected<driver_set, driver_failure> make_drivers(const driver_settings& how,
                                                                     const char* environment);

}  // namespace skua::inline SKUA_ABI

// tools/skua/doctor.hpp: skua doctor: what this machine offers, and what will be short.
#pragma once

#include <cstddef>

namespace skua_tool {

struct doctor_settings {
  std::size_t workers = 0;  // 0: as many as there are CPUs
  bool json = false;
};

/// Gives the exit code: 0 if io_uring works here, 1 if it does not. Throws a failure.
int run_doctor(const doctor_settings& how);

}  // namespace skua_tool

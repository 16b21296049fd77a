// tests/support/runtimes.hpp: the kinds of runtime that tests are repeated for.
#pragma once

#include "skua/runtime/runtime.hpp"
#include "support/event.hpp"
#include "support/log_recorder.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace skua_test {

struct runtime_kind {
  skua::flavour flavour;
  std::size_t workers;

  [[nodiscard]] bool multi() const { return flavour == skua::flavour::multi_thread; }
  [[nodiscard]] std::string name() const {
    return multi() ? "multi_thread_" + std::to_string(workers) : "current_thread";
  }
};

inline void PrintTo(const runtime_kind& kind, std::ostream* out) {
  *out << kind.name();
}

/// multi_thread with 1, 2 and 4 workers, and current_thread.
inline const std::vector<runtime_kind> all_kinds{{skua::flavour::multi_thread, 1},
                                                 {skua::flavour::multi_thread, 2},
                                                 {skua::flavour::multi_thread, 4},
                                                 {skua::flavour::current_thread, 1}};

inline std::string kind_name(const testing::TestParamInfo<runtime_kind>& info) {
  return info.param.name();
}

/// A runtime that has to start.
inline skua::runtime started(const skua::config& settings) {
  auto made = skua::runtime::start(settings);
  if (!made) {
    std::cerr << "a runtime did not start: " << made.error().message() << "\n";
    std::abort();
  }
  return std::move(*made);
}

inline skua::config settings_of(const runtime_kind& kind, log_recorder& log) {
  skua::config settings;
  settings.flavour = kind.flavour;
  settings.workers = kind.workers;
  settings.log = log.logger();
  return settings;
}

inline skua::runtime started(const runtime_kind& kind, log_recorder& log) {
  return started(settings_of(kind, log));
}

/// Tests that run once for each kind.
class for_each_kind : public testing::TestWithParam<runtime_kind> {
protected:
  [[nodiscard]] skua::runtime start() { return started(GetParam(), log); }
  [[nodiscard]] bool multi() const { return GetParam().multi(); }

  log_recorder log;
};

}  // namespace skua_test

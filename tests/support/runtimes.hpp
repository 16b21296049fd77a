// tests/support/runtimes.hpp: tests that are repeated on every kind of runtime, with a log.
#pragma once

#include "skua/runtime/runtime.hpp"
#include "support/event.hpp"
#include "support/log_recorder.hpp"
#include "support/started.hpp"

#include <gtest/gtest.h>

namespace skua_test {

/// Without reports of workers that are stuck: tests hold workers up, and a machine that is busy
/// keeps them waiting, and neither is worth a record here.
inline skua::config settings_of(const kind& which, log_recorder& log) {
  skua::config settings = which.settings();
  settings.log = log.logger();
  settings.stall_threshold = 0;
  return settings;
}

inline skua::runtime started(const kind& which, log_recorder& log) {
  return started(settings_of(which, log));
}

/// Tests that run once for each kind.
class for_each_kind : public testing::TestWithParam<kind> {
protected:
  [[nodiscard]] skua::runtime start() { return started(GetParam(), log); }
  [[nodiscard]] bool multi() const { return !GetParam().is_alone(); }

  log_recorder log;
};

}  // namespace skua_test

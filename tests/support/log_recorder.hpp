// tests/support/log_recorder.hpp: keeps what a runtime logs, for a test to look at.
#pragma once

#include "skua/base/log.hpp"

#include <algorithm>
#include <concepts>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skua_test {

/// From any thread. Outlives the runtimes that log to it, and the join handles of their tasks.
class log_recorder {
public:
  struct record {
    skua::log_level level;
    std::string message;
    std::map<std::string, std::string> fields;
  };

  /// Below a warning, runtimes say how they start; few tests are about that.
  [[nodiscard]] skua::logger logger(skua::log_level minimum = skua::log_level::warn) {
    return skua::logger(write, this, minimum);
  }

  /// Those whose message contains `part`.
  [[nodiscard]] std::vector<record> with(std::string_view part) const {
    const std::lock_guard hold(mutex_);
    std::vector<record> found;
    std::ranges::copy_if(records_, std::back_inserter(found), [part](const record& one) {
      return one.message.find(part) != std::string::npos;
    });
    return found;
  }
  [[nodiscard]] std::size_t count(std::string_view part) const { return with(part).size(); }
  [[nodiscard]] std::size_t size() const { return count(""); }

private:
  static void write(void* state, const skua::log_record& from) {
    record one{from.level, std::string(from.message), {}};
    for (const skua::log_field& field : from.fields)
      one.fields[std::string(field.name())] = field.visit([](auto value) {
        if constexpr (std::same_as<decltype(value), std::string_view>)
          return std::string(value);
        else
          return std::to_string(value);
      });
    auto& self = *static_cast<log_recorder*>(state);
    const std::lock_guard hold(self.mutex_);
    self.records_.push_back(std::move(one));
  }

  mutable std::mutex mutex_;
  std::vector<record> records_;
};

/// What a runtime says of an exception that nobody took.
inline constexpr std::string_view unseen_exception = "exception that nobody will see";

}  // namespace skua_test

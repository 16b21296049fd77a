// tests/support/tracked.hpp: an object that notices when it is leaked or destroyed twice.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace skua_test {

/// Knows its own address: a compiler that moves it by copying bytes destroys an object that was
/// never made. Single-threaded.
class tracked {
public:
  explicit tracked(std::string text = "") : name(std::move(text)) { alive()[this] = name; }
  tracked(const tracked& from) : name(from.name) {
    expect_alive(from);
    alive()[this] = name;
  }
  tracked(tracked&& from) noexcept : name(std::move(from.name)) {
    expect_alive(from);
    alive()[this] = name;
  }
  tracked& operator=(const tracked& from) = default;
  tracked& operator=(tracked&& from) noexcept = default;
  ~tracked() {
    expect_alive(*this);
    alive().erase(this);
    if (!name.empty()) destroyed().push_back(name);
  }

  [[nodiscard]] int size() const {
    expect_alive(*this);
    return static_cast<int>(name.size());
  }

  std::string name;  ///< Empty once moved from; then its end is not recorded.

  /// All that live, and the names of those that ended, in order.
  static std::map<const tracked*, std::string>& alive() {
    static std::map<const tracked*, std::string> objects;
    return objects;
  }
  static std::vector<std::string>& destroyed() {
    static std::vector<std::string> names;
    return names;
  }

private:
  static void expect_alive(const tracked& one) {
    EXPECT_TRUE(alive().contains(&one)) << "an object is used at an address where none was made";
  }
};

}  // namespace skua_test

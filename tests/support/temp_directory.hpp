// tests/support/temp_directory.hpp: a directory of the test's own, gone when the test is over.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace skua_test {

class temp_directory {
public:
  explicit temp_directory(
      const std::filesystem::path& in = std::filesystem::temp_directory_path()) {
    std::string pattern = (in / "skua-test-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  temp_directory(const temp_directory&) = delete;
  temp_directory& operator=(const temp_directory&) = delete;
  ~temp_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(const char* name) const { return path_ + "/" + name; }

private:
  std::string path_;
};

}  // namespace skua_test

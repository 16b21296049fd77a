// tests/support/noted.hpp: an object that adds its text to a log when it is destroyed.
#pragma once

#include <string>

namespace skua_test {

class noted {
public:
  noted(std::string& log, const char* text) : log_(log), text_(text) {}
  noted(const noted&) = delete;
  noted& operator=(const noted&) = delete;
  ~noted() { log_ += text_; }

private:
  std::string& log_;
  const char* text_;
};

}  // namespace skua_test

// src/base/error.cpp: the words for each error, in a category that is never destroyed.
#include "skua/base/error.hpp"

#include "base/immortal.hpp"

#include <string>

namespace skua::inline SKUA_ABI {

namespace {

class category final : public std::error_category {
public:
  constexpr category() noexcept = default;

  [[nodiscard]] const char* name() const noexcept override { return "skua"; }

  [[nodiscard]] std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::closed:
        return "closed";
      case errc::end_of_stream:
        return "the stream ended too early";
      case errc::limit_exceeded:
        return "a limit was exceeded";
    }
    return "unknown skua error " + std::to_string(value);
  }
};

constinit const immortal<category> the_category;  // a code may be looked at until the very end

}  // namespace

const std::error_category& error_category() noexcept {
  return the_category.value;
}

}  // namespace skua::inline SKUA_ABI

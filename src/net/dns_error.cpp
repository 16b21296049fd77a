// src/net/dns_error.cpp: the words for each error of a lookup.
#include "skua/net/dns_error.hpp"

#include "base/immortal.hpp"

#include <string>

namespace skua::inline SKUA_ABI::net {

namespace {

class category final : public std::error_category {
public:
  constexpr category() noexcept = default;

  [[nodiscard]] const char* name() const noexcept override { return "dns"; }

  [[nodiscard]] std::string message(int value) const override {
    switch (static_cast<dns_errc>(value)) {
      case dns_errc::not_found:
        return "no such host name";
      case dns_errc::no_data:
        return "the host name has no such address";
      case dns_errc::server_failure:
        return "the name server failed";
      case dns_errc::refused:
        return "the name server refused to answer";
      case dns_errc::timed_out:
        return "no name server answered in time";
      case dns_errc::unreachable:
        return "no name server can be reached";
      case dns_errc::bad_response:
        return "the name server's answer makes no sense";
      case dns_errc::bad_name:
        return "not a host name";
    }
    return "unknown dns error " + std::to_string(value);
  }

  [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
    if (static_cast<dns_errc>(value) == dns_errc::timed_out) return std::errc::timed_out;
    if (static_cast<dns_errc>(value) == dns_errc::bad_name) return std::errc::invalid_argument;
    return {value, *this};
  }
};

constinit const immortal<category> the_category;  // a code may be looked at until the very end

}  // namespace

const std::error_category& dns_category() noexcept {
  return the_category.value;
}

}  // namespace skua::inline SKUA_ABI::net

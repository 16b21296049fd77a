// src/net/host_name.cpp: what a name of a host looks like.
#include "net/host_name.hpp"

#include <algorithm>

namespace skua::inline SKUA_ABI::net {
namespace {

constexpr std::size_t longest_name = 253;
constexpr std::size_t longest_label = 63;

bool is_label(std::string_view label) noexcept {
  constexpr auto is_printable = [](char one) { return one > ' ' && one <= '~'; };
  return !label.empty() && label.size() <= longest_label &&
         std::ranges::all_of(label, is_printable);
}

std::string_view without_last_dot(std::string_view name) noexcept {
  if (name.ends_with('.')) name.remove_suffix(1);
  return name;
}

}  // namespace

std::string lower_case(std::string_view name) {
  std::string made(name);
  for (char& one : made)
    if (one >= 'A' && one <= 'Z') one = static_cast<char>(one - 'A' + 'a');
  return made;
}

bool is_host_name(std::string_view name) noexcept {
  name = without_last_dot(name);
  if (name.size() > longest_name) return false;
  for (;;) {
    const std::size_t dot = name.find('.');
    if (!is_label(name.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

bool is_localhost(std::string_view name) noexcept {
  name = without_last_dot(name);
  return name == "localhost" || name.ends_with(".localhost");
}

}  // namespace skua::inline SKUA_ABI::net

// tools/skua/json.cpp: writes JSON, on one line.
#include "json.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace skua_tool {
namespace {

std::string quoted(std::string_view text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      all += '\\';
      all += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x", static_cast<unsigned>(c));
      all += escaped.data();
    } else {
      all += c;
    }
  }
  return all + '"';
}

}  // namespace

json& json::field(std::string_view name, std::string_view text) {
  return put(name, quoted(text));
}

json& json::field(std::string_view name, double number) {
  if (!std::isfinite(number)) return null(name);
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.9g", number);
  return put(name, text.data());
}

json& json::field(std::string_view name, bool truth) {
  return put(name, truth ? "true" : "false");
}

json& json::element(std::string_view text) {
  return put({}, quoted(text));
}

json& json::end() {
  text_ += open_.back();
  open_.pop_back();
  return *this;
}

std::string json::text() {
  while (!open_.empty()) end();
  return text_;
}

json& json::begin(std::string_view name, char opens, char closes) {
  separate(name);
  text_ += opens;
  open_ += closes;
  return *this;
}

json& json::put(std::string_view name, std::string_view value) {
  separate(name);
  text_ += value;
  return *this;
}

void json::separate(std::string_view name) {
  if (text_.back() != '{' && text_.back() != '[') text_ += ',';
  if (open_.back() == '}') text_ += quoted(name) + ":";
}

}  // namespace skua_tool

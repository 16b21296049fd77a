// tools/skua/json.hpp: writes JSON, on one line.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace skua_tool {

/// An object, filled from front to back:
///
///   json out;
///   out.field("name", "x").begin_object("size").field("width", 3).end();
///   std::puts(out.text().c_str());
///
/// Objects and arrays that were begun are ended in order; the outermost by text().
class json {
public:
  json& field(std::string_view name, std::string_view text);
  json& field(std::string_view name, const char* text) {
    return field(name, std::string_view(text));
  }
  json& field(std::string_view name, double number);  // null if it is not finite
  json& field(std::string_view name, bool truth);
  template <std::integral Number>
    requires(!std::same_as<Number, bool>)
  json& field(std::string_view name, Number number) {
    return put(name, std::to_string(number));
  }
  json& null(std::string_view name) { return put(name, "null"); }

  json& begin_object(std::string_view name) { return begin(name, '{', '}'); }
  json& begin_array(std::string_view name) { return begin(name, '[', ']'); }
  /// In an array.
  json& begin_object() { return begin({}, '{', '}'); }
  json& element(std::string_view text);
  json& end();

  /// The whole; nothing can be added any more.
  [[nodiscard]] std::string text();

private:
  json& begin(std::string_view name, char opens, char closes);
  json& put(std::string_view name, std::string_view value);
  void separate(std::string_view name);

  std::string text_ = "{";
  std::string open_ = "}";  // what closes those that are open, innermost last
};

}  // namespace skua_tool

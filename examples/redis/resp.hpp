// examples/redis/resp.hpp: finds commands in bytes, as clients of Redis send them (RESP2).
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace redis {

using words = std::vector<std::string_view>;

// What a client may ask of our memory with one command.
struct limits {
  std::size_t words = 1024;
  std::size_t word = std::size_t{1} << 20;
  std::size_t command = std::size_t{4} << 20;
  std::size_t line = std::size_t{64} << 10;  // of a command that is one line of text
};

struct parsed {
  enum class kind : unsigned char {
    command,  // takes `length` bytes; without words it is none, and is passed over
    more,     // not whole: another look is worth it when there are `length` bytes
    error     // not the protocol: nothing behind this can be understood
  };
  kind what;
  std::size_t length;
  std::string_view error;
};

// Looks at the start of `bytes`. The words that it finds are views of them. It keeps nothing: half
// a command stays where it is until the rest has come.
[[nodiscard]] parsed parse(std::string_view bytes, words& found, const limits& most = limits());

}  // namespace redis

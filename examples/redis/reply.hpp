// examples/redis/reply.hpp: the answers to a pipeline, collected to be written together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace redis {

class replies {
public:
  void simple(std::string_view text);  // text of ours, of one line
  void error(std::string_view text);   // may hold what a client has sent
  void number(std::int64_t value);
  void bulk(std::string_view bytes);
  void none();
  void array(std::size_t length);  // so many of the above follow
  void raw(std::string_view encoded) { out_ += encoded; }

  [[nodiscard]] std::size_t size() const { return out_.size(); }
  [[nodiscard]] std::string_view text() const { return out_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(std::span(out_)); }
  // One large answer does not stay in memory for as long as its client does.
  void clear();

private:
  void line(char kind, std::int64_t value);

  std::string out_;
};

}  // namespace redis

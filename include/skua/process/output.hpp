// skua/process/output.hpp: all that a program wrote, and how it ended.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/process/exit_status.hpp"
#include "skua/time/time_span.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace skua::inline SKUA_ABI::process {

/// What command::output() gives.
struct output {
  /// With nothing written yet.
  explicit output(exit_status how) noexcept : status(how) {}

  exit_status status;      ///< how it has ended
  std::string out;         ///< what it wrote to its standard output
  std::string err;         ///< what it wrote to its standard error
  bool cut_short = false;  ///< one of them exceeded the limit, and output_options::cut() was said
};

/// What command::output() is to do besides.
class output_options {
public:
  static constexpr std::size_t usual_limit = std::size_t{16} << 20;  ///< bytes: 16 MiB

  /// The most bytes that out and err may have, each.
  output_options& limit(std::size_t bytes) noexcept {
    limit_ = bytes;
    return *this;
  }
  /// What exceeds the limit is read and thrown away, instead of ending it all.
  output_options& cut(bool yes = true) noexcept {
    cut_ = yes;
    return *this;
  }
  /// The longest that it may take, from the start on.
  output_options& timeout(time_span length) noexcept {
    timeout_ = length;
    return *this;
  }
  /// Written to the program's standard input, which is then closed.
  output_options& input(std::string bytes) noexcept {
    input_ = std::move(bytes);
    return *this;
  }

  /// What was set, or the default.
  ///@{
  [[nodiscard]] std::size_t limit() const noexcept { return limit_; }
  [[nodiscard]] bool cuts() const noexcept { return cut_; }
  [[nodiscard]] const std::optional<time_span>& timeout() const noexcept { return timeout_; }
  [[nodiscard]] const std::optional<std::string>& input() const noexcept { return input_; }
  ///@}

private:
  std::size_t limit_ = usual_limit;
  bool cut_ = false;
  std::optional<time_span> timeout_;
  std::optional<std::string> input_;
};

}  // namespace skua::inline SKUA_ABI::process

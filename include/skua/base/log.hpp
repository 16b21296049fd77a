// skua/base/log.hpp: where the library's own messages go: to standard error, or to a callback.
#pragma once

#include "skua/base/abi.hpp"

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace skua::inline SKUA_ABI {

/// From what only those want to see who look for something, to what went wrong.
enum class log_level : unsigned char {
  trace,  ///< every step
  debug,  ///< for those who look for a fault
  info,   ///< what happens seldom, and should be known
  warn,   ///< it goes on, but somebody should look
  error   ///< something was lost, or does not go on
};

/// "trace" ... "error".
[[nodiscard, gnu::visibility("default")]] std::string_view name_of(log_level level) noexcept;

/// A name and a value: text, a whole number, a real number or a truth. Texts are borrowed.
class log_field {
public:
  /// A text, which is borrowed.
  log_field(std::string_view name, std::string_view text) noexcept
      : name_(name), kind_(kind::text), text_(text) {}

  /// A real number.
  log_field(std::string_view name, double number) noexcept
      : name_(name), kind_(kind::real), real_(number) {}

  /// A whole number of any width, or a truth.
  template <std::integral Number>
  log_field(std::string_view name, Number number) noexcept : name_(name) {
    if constexpr (std::same_as<Number, bool>) {
      kind_ = kind::truth;
      truth_ = number;
    } else if constexpr (std::signed_integral<Number>) {
      kind_ = kind::whole;
      whole_ = number;
    } else {
      kind_ = kind::natural;
      natural_ = number;
    }
  }

  /// The part before the `=`. Borrowed, as it was given.
  [[nodiscard]] std::string_view name() const noexcept { return name_; }

  /// Calls `visitor` with the value, as a string_view, int64_t, uint64_t, double or bool.
  template <typename Visitor>
  decltype(auto) visit(Visitor&& visitor) const {
    switch (kind_) {
      case kind::text:
        return visitor(text_);
      case kind::whole:
        return visitor(whole_);
      case kind::natural:
        return visitor(natural_);
      case kind::real:
        return visitor(real_);
      case kind::truth:
        return visitor(truth_);
    }
    __builtin_unreachable();
  }

private:
  enum class kind : unsigned char { text, whole, natural, real, truth };

  std::string_view name_;
  kind kind_;
  union {
    std::string_view text_;
    std::int64_t whole_;
    std::uint64_t natural_;
    double real_;
    bool truth_;
  };
};

/// One message with its fields. Valid only during the call that hands it over.
struct log_record {
  log_level level;           ///< at which it was written, never below the logger's minimum
  std::string_view message;  ///< a constant sentence; what varies is in the fields
  std::initializer_list<log_field> fields;  ///< what varies, in the order in which it was given
};

/// A small value, copied freely; copies write to the same place. Never allocates. Threads may write
/// at once, through copies or through one logger.
class [[gnu::visibility("default")]] logger {
public:
  /// Called in the thread that logs, by several at once if they log at once. It should be quick
  /// and must not log itself. What it throws is swallowed: the record is lost, nothing else.
  using write_function = void (*)(void* state, const log_record& record);

  /// Writes to standard error, each record as one line by one system call, so that lines never
  /// mix: `skua warn: message name=value other="two words"`. Control characters, quotes within
  /// quotes and bytes that are not UTF-8 are escaped: no text can forge a line or steer a terminal.
  /// No line is longer than 2,048 bytes: one that would be is cut and ends in " [truncated]".
  /// What the kernel refuses is lost; errno stays as it was.
  explicit logger(log_level minimum = log_level::info) noexcept;

  /// Calls `how` with `state`, which outlives every copy of the logger.
  logger(write_function how, void* state, log_level minimum = log_level::info) noexcept;

  /// Writes nothing at any level.
  [[nodiscard]] static logger silent() noexcept;

  /// Ask before computing something that only the log needs.
  [[nodiscard]] bool enabled(log_level level) const noexcept {
    return write_ != nullptr && level >= minimum_;
  }

  /// One record, if the level is not below the minimum. Message and fields are borrowed for the
  /// call.
  void write(log_level level, std::string_view message,
             std::initializer_list<log_field> fields = {}) const noexcept {
    if (enabled(level)) hand_over(log_record{level, message, fields});
  }

  /// write() at log_level::trace.
  void trace(std::string_view message,
             std::initializer_list<log_field> fields = {}) const noexcept {
    write(log_level::trace, message, fields);
  }
  /// write() at log_level::debug.
  void debug(std::string_view message,
             std::initializer_list<log_field> fields = {}) const noexcept {
    write(log_level::debug, message, fields);
  }
  /// write() at log_level::info.
  void info(std::string_view message, std::initializer_list<log_field> fields = {}) const noexcept {
    write(log_level::info, message, fields);
  }
  /// write() at log_level::warn.
  void warn(std::string_view message, std::initializer_list<log_field> fields = {}) const noexcept {
    write(log_level::warn, message, fields);
  }
  /// write() at log_level::error.
  void error(std::string_view message,
             std::initializer_list<log_field> fields = {}) const noexcept {
    write(log_level::error, message, fields);
  }

private:
  void hand_over(const log_record& record) const noexcept;

  write_function write_;  // null: silent
  void* state_;
  log_level minimum_;
};

}  // namespace skua::inline SKUA_ABI

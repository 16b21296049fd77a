// skua/io/io_operation.hpp: an operation of the kernel's that a task awaits.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/error.hpp"
#include "skua/base/result.hpp"
#include "skua/coro/leaf.hpp"
#include "skua/driver/operation.hpp"
#include "skua/driver/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <system_error>
#include <type_traits>

namespace skua::inline SKUA_ABI {

class virtual_clock;
namespace io {
class descriptor;
}

/// What all of them share. Nothing begins before it is awaited, in a task of a runtime; then it and
/// what it points to (buffers, paths, addresses) stay where they are until it has ended, whichever
/// way: also a task that is asked to stop unwinds only when the kernel has let go.
///
/// A stop asks the kernel to cancel. If it does, the task unwinds, and nothing was moved; if the
/// operation has succeeded by then, the task goes on with the value, and stops at its next leaf.
class [[gnu::visibility("default")]] io_wait : public leaf, private operation {
public:
  /// Before it is awaited: gives up after so many nanoseconds, with std::errc::timed_out. 0 or less
  /// gives it one chance. Again and again if it is awaited again. skua::timeout() calls this.
  void expire_after(std::int64_t nanoseconds) noexcept { timeout_ = nanoseconds; }

protected:
  // For what derives from it: the types, not what the operation inside has by these names.
  using op_request = skua::op_request;
  template <typename T>
  using result = skua::result<T>;

  /// `whose`: counts it while it is under way; may be null.
  io_wait(const op_request& what, const io::descriptor* whose) noexcept
      : operation(what, ended), at_(whose) {}
  ~io_wait();

  /// What came of it: 0 or more, or a negated errno. Throws std::logic_error if it was awaited
  /// where there is no runtime.
  [[nodiscard]] std::int32_t take();
  /// The same, if it has ended and nobody took it; otherwise -1.
  [[nodiscard]] std::int32_t not_taken() const noexcept {
    return state_ == state::ended ? operation::result : -1;
  }
  /// For await_resume(): what take() gave, if that was negative, as an error.
  [[nodiscard]] std::unexpected<std::error_code> failure(std::int32_t negated) const noexcept;

private:
  enum class state : unsigned char {
    idle,       // not begun; or cancelled, or taken
    under_way,  // the driver has it
    ended,      // with a result that nobody took yet
  };

  void start() noexcept override;
  cancel_answer cancel() noexcept override;
  /// A look at what a descriptor is ready for takes nothing away, so a lost race loses nothing.
  bool gives_back() const noexcept override { return code == op_code::poll; }
  static void ended(operation& op) noexcept;
  void let_go_as(state now) noexcept;
  static void charge(std::int32_t bytes) noexcept;

  static constexpr std::int32_t large = 16'384;  // bytes

  // These fit in behind what an operation has. The first is its driver's to change, too.
  state state_ = state::idle;
  bool outside_ = false;  // it was awaited where there is no runtime
  const io::descriptor* at_;
  virtual_clock* stands_still_ = nullptr;  // for as long as it is under way
  std::int64_t timeout_ = no_deadline;
};

/// Gives result<T>. T is void, std::size_t (bytes), std::uint32_t (events) or unique_fd.
template <typename T>
class io_operation final : public io_wait {
public:
  /// What is asked of the kernel; the functions of skua::io make these. `whose`: see io_wait.
  explicit io_operation(const op_request& what, const io::descriptor* whose = nullptr) noexcept
      : io_wait(what, whose) {}

  /// A descriptor that nobody took is closed.
  ~io_operation() {
    if constexpr (std::is_same_v<T, unique_fd>) unique_fd(not_taken()).reset();
  }

  result<T> await_resume() {
    const std::int32_t got = take();
    if (got < 0) return failure(got);
    if constexpr (std::is_void_v<T>) {
      return {};
    } else if constexpr (std::is_same_v<T, unique_fd>) {
      return unique_fd(got);
    } else {
      return static_cast<T>(got);
    }
  }
};

}  // namespace skua::inline SKUA_ABI

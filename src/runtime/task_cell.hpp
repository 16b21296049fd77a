// src/runtime/task_cell.hpp: where a spawned task lives: context, join state and result in one.
#pragma once

#include "sched/join_word.hpp"
#include "skua/base/atomics.hpp"
#include "skua/base/cache_line.hpp"
#include "skua/coro/context.hpp"
#include "skua/runtime/spawned_task.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>

namespace skua::inline SKUA_ABI {

class core;
class scope_state;
class worker;

/// Made once and used for many tasks, one after the other: memory that held a cell always holds
/// one, so that whoever looks through all cells, or comes late, finds a valid one.
///
/// Who may touch it: the task while it runs; the handle; walkers that have pinned it. Which of them
/// is the last, and frees it, `joined` knows.
class alignas(cache_line) task_cell final : public context {
public:
  static constexpr std::size_t name_max = 23;

  explicit task_cell(core& of);
  ~task_cell() = default;

  /// Whoever queues `item`: if it is a task of a runtime that measures how long tasks wait, now
  /// they do.
  static void note_queued(work& item, std::int64_t now) noexcept {
    if (item.run == run_measured) static_cast<task_cell&>(item).queued_at_ = now;
  }

  // By who has a free cell to himself.

  /// Makes room for a result; throws std::bad_alloc if that is large and there is no memory.
  void reserve(const result_operations& result);
  /// Takes over the root. After reserve() for it.
  void fill(const spawn_request& order, std::uint64_t id, scope_state& within, executor& home,
            bool is_root) noexcept;
  /// Gives up the root unrun, and sets the result to stopped.
  void cancel_unrun() noexcept;
  /// Ends the result's life and gives back its room.
  void clear() noexcept;

  // By who holds it.

  [[nodiscard]] void* result() noexcept { return result_; }
  /// Null if it ended otherwise, or if the handle took it.
  [[nodiscard]] std::exception_ptr exception() const noexcept {
    return failed_ ? operations_->exception(result_) : nullptr;
  }
  [[nodiscard]] std::string_view name() const noexcept { return {name_.data(), name_length_}; }
  [[nodiscard]] const std::source_location& where() const noexcept { return where_; }
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] scope_state& scope() const noexcept { return *scope_; }

  core& runtime;
  join_word<std_atomics> joined;
  /// Who waits for the end; written before joined.join().
  leaf* joiner = nullptr;

private:
  static constexpr std::size_t inline_result = 48;

  static void run(work& item) noexcept;
  static void run_measured(work& item) noexcept;
  void finish(progress driven) noexcept;
  [[nodiscard]] progress take_result(progress how) noexcept;
  [[nodiscard]] bool stopped_by_another() const noexcept;
  void set_stopped() noexcept;

  std::uint64_t id_ = 0;
  scope_state* scope_ = nullptr;
  const result_operations* operations_ = nullptr;
  std::source_location where_;
  std::int64_t queued_at_ = 0;  // if the runtime measures that
  void* result_ = nullptr;      // inline_, or a block of its own
  std::array<char, name_max> name_{};
  std::uint8_t name_length_ = 0;
  bool is_root_ = false;
  bool has_result_ = false;
  bool failed_ = false;  // the result is, or was, an exception
  alignas(2 * sizeof(void*)) std::array<std::byte, inline_result> inline_;
};

}  // namespace skua::inline SKUA_ABI

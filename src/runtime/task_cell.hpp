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
#include <span>
#include <string_view>
#include <utility>

namespace skua::inline SKUA_ABI {

class core;
class scope_state;
class worker;
struct current_state;

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
    if (item.run == run_measured) static_cast<task_cell&>(item).extra_->queued_at = now;
  }

  /// Whoever has taken many from a queue, where they may have been for long: brings them and their
  /// frames closer.
  static void fetch(std::span<work* const> items) noexcept;

  // By who has a free cell to himself.

  /// Makes room for a result and a name; throws std::bad_alloc if there is no memory for what does
  /// not fit in here.
  void reserve(const spawn_request& order) {
    operations_ = order.result;
    if (!is_inline(*order.result) || !order.name.empty() || work::run != run) [[unlikely]]
      reserve_elsewhere(order);
  }
  /// Takes over the root. After reserve() for it.
  void fill(const spawn_request& order, std::uint64_t id, scope_state& within, executor& home,
            bool is_root) noexcept;
  /// Gives up the root unrun, and sets the result to stopped.
  void cancel_unrun() noexcept;
  /// Ends the result's life and gives back its room.
  void clear() noexcept;

  // By who holds it.

  /// See spawned_task::run_in_place().
  [[nodiscard]] bool run_in_turn_of(const context_base& awaiting) noexcept;
  /// The handle: has the task ended?
  [[nodiscard]] bool has_ended() const noexcept { return end_untold_ || joined.done(); }
  /// The handle, not while it joins: refers to the cell no longer. True if the caller frees it.
  [[nodiscard]] bool drop() noexcept {
    return std::exchange(end_untold_, false) ? joined.end_and_drop() : joined.drop();
  }
  /// The handle, which is to be kept though the task has ended in place.
  void tell_end() noexcept;

  [[nodiscard]] void* result() noexcept {
    return is_inline(*operations_) ? static_cast<void*>(inline_.data()) : elsewhere();
  }
  /// Null if it ended otherwise, or if the handle took it.
  [[nodiscard]] std::exception_ptr exception() const noexcept {
    return failed_ ? operations_->exception(const_cast<task_cell*>(this)->result()) : nullptr;
  }
  [[nodiscard]] std::string_view name() const noexcept {
    return extra_ == nullptr ? std::string_view() : extra_->name_given();
  }
  [[nodiscard]] const std::source_location& where() const noexcept { return where_; }
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] scope_state& scope() const noexcept { return *scope_; }

  core& runtime;
  join_word<std_atomics> joined;

private:
  bool is_root_ = false;
  bool has_result_ = false;
  bool failed_ = false;  // the result is, or was, an exception
  // It has ended on the stack of who awaits it: `joined` hears of that from there. What is still
  // done by the same thread with the handle needs no word of it, and most often that is all.
  bool end_untold_ = false;

public:
  /// Who waits for the end; written before joined.join().
  leaf* joiner = nullptr;

private:
  static constexpr std::size_t inline_result = 32;
  /// Tasks on one stack: a chain of tasks of which each awaits the next may be of any length.
  static constexpr unsigned most_beneath = 32;
  /// And what they may take of it: each may have much on the stack while it awaits.
  static constexpr std::uintptr_t most_stack = 32'768;

  /// What few tasks have: a name, or a runtime that measures them.
  struct rarities {
    std::int64_t queued_at = 0;  // if the runtime measures that
    std::uint8_t name_length = 0;
    std::array<char, name_max> name{};

    [[gnu::noinline]] void keep_name(std::string_view given) noexcept;
    [[nodiscard]] std::string_view name_given() const noexcept {
      return {name.data(), name_length};
    }
  };

  static void run(work& item) noexcept;
  static void run_measured(work& item) noexcept;
  void reserve_elsewhere(const spawn_request& order);
  static bool is_inline(const result_operations& result) noexcept {
    return result.size <= inline_result;
  }
  /// Where a result is that does not fit in here.
  [[nodiscard]] void*& elsewhere() noexcept { return *reinterpret_cast<void**>(inline_.data()); }
  void give_way(const current_state& thread) noexcept;
  void finish(progress driven) noexcept;
  [[nodiscard]] progress take_result(progress how) noexcept;
  [[nodiscard]] bool stopped_by_another() const noexcept;
  void set_stopped() noexcept;
  void free_rarities() noexcept;

  std::uint64_t id_ = 0;
  scope_state* scope_ = nullptr;
  const result_operations* operations_ = nullptr;
  std::source_location where_;
  rarities* extra_ = nullptr;
  alignas(2 * sizeof(void*)) std::array<std::byte, inline_result> inline_;
};

// Three lines of the cache, all of which a spawn writes. One more cost a million tasks a tenth.
static_assert(sizeof(task_cell) == 3 * cache_line);

}  // namespace skua::inline SKUA_ABI

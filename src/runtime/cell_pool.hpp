// src/runtime/cell_pool.hpp: the cells of a runtime's tasks, and who uses them now.
#pragma once

#include "runtime/task_cell.hpp"
#include "skua/base/abi.hpp"
#include "skua/base/short_lock.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace skua::inline SKUA_ABI {

/// A few free cells that one worker keeps at hand. Linked through work::next.
struct cell_cache {
  static constexpr std::size_t most = 256;
  static constexpr std::size_t half = most / 2;

  work* first = nullptr;
  std::size_t count = 0;

  [[nodiscard]] task_cell* take() noexcept {
    if (first == nullptr) return nullptr;
    auto* const cell = static_cast<task_cell*>(first);
    first = std::exchange(cell->next, nullptr);
    --count;
    if (first == nullptr) return cell;
    fetch(first);
    fetch_ahead(*cell, *first);
    return cell;
  }
  /// All but the `half` that were given last, warm as they are; there are more than that.
  [[nodiscard]] work* split() noexcept {
    work* last = first;
    for (std::size_t i = 1; i < half; ++i) last = last->next;
    count = half;
    return std::exchange(last->next, nullptr);
  }
  void give(task_cell& cell) noexcept {
    if (first != nullptr) fetch_ahead(*first, cell);
    cell.next = first;
    first = &cell;
    ++count;
  }

  /// Whoever spawns a task soon writes all of its cell: it had better be in the cache. At an
  /// address that is no cell's nothing happens.
  static void fetch(const void* cell) noexcept {
    const auto at = std::bit_cast<std::uintptr_t>(cell);  // which need not point to an object
    for (std::size_t i = 0; i < sizeof(task_cell); i += cache_line)
      __builtin_prefetch(std::bit_cast<const void*>(at + i), 1);
  }

private:
  /// Where there are many cells, neighbours are taken one after the other, and in the same order
  /// given back by who joins their tasks: memory takes longer to answer than one of them lasts.
  static constexpr std::intptr_t ahead = 8;
  static void fetch_ahead(const work& last, const work& now) noexcept {
    constexpr std::intptr_t size = sizeof(task_cell);
    const auto at = std::bit_cast<std::intptr_t>(&now);
    const std::intptr_t step = at - std::bit_cast<std::intptr_t>(&last);
    if (step == size || step == -size) fetch(std::bit_cast<const void*>(at + ahead * step));
  }
};

/// Makes cells in slabs and never frees one before the end. From any thread.
class cell_pool {
public:
  explicit cell_pool(core& of) noexcept : of_(of) {}
  cell_pool(const cell_pool&) = delete;
  cell_pool& operator=(const cell_pool&) = delete;

  /// A free cell; throws std::bad_alloc.
  [[nodiscard]] task_cell& take();
  /// Several for a worker's cache, which is empty.
  void refill(cell_cache& cache);

  /// True if the pool is closed, and no other cell is out.
  [[nodiscard]] bool give(task_cell& cell) noexcept;
  /// Half of a cache that is full: one more than its most.
  void take_half(cell_cache& cache) noexcept;
  void take_all(cell_cache& cache) noexcept;

  /// Calls `look` for every cell that is in use, one after the other, with the cell pinned.
  /// Cells of tasks that are spawned meanwhile may be missed. `unpinned` is called with each cell
  /// that has to be freed afterwards.
  template <typename Look, typename Free>
  void for_each(Look&& look, Free&& unpinned) {
    for (std::size_t i = 0;; ++i) {
      slab* const one = slab_at(i);
      if (one == nullptr) return;
      for (task_cell& cell : one->cells()) {
        if (!cell.joined.pin()) continue;
        const pin until_seen(cell, unpinned);  // also if `look` throws
        look(cell);
      }
    }
  }

  /// When all caches were taken back and nobody takes any more: from now on give() tells the last.
  /// True if a cell is out now.
  [[nodiscard]] bool close() noexcept;

private:
  template <typename Free>
  class pin {
  public:
    pin(task_cell& cell, Free& unpinned) noexcept : cell_(cell), unpinned_(unpinned) {}
    pin(const pin&) = delete;
    pin& operator=(const pin&) = delete;
    ~pin() {
      if (cell_.joined.unpin()) unpinned_(cell_);
    }

  private:
    task_cell& cell_;
    Free& unpinned_;
  };

  static constexpr std::size_t cells_per_slab = 64;
  static constexpr std::size_t cells_per_refill = 32;
  static constexpr std::size_t batch_size = cell_cache::most + 1 - cell_cache::half;
  /// The cells are built in place: they can be neither copied nor moved.
  class slab {
  public:
    explicit slab(core& of) {
      for (std::size_t i = 0; i < cells_per_slab; ++i)
        ::new (static_cast<void*>(memory_ + (i * sizeof(task_cell)))) task_cell(of);
    }
    slab(const slab&) = delete;
    slab& operator=(const slab&) = delete;
    ~slab() { std::ranges::destroy(cells()); }
    [[nodiscard]] std::span<task_cell> cells() noexcept {
      return {std::launder(reinterpret_cast<task_cell*>(memory_)), cells_per_slab};
    }

  private:
    alignas(task_cell) std::byte memory_[cells_per_slab * sizeof(task_cell)];
  };

  [[nodiscard]] slab* slab_at(std::size_t index) const noexcept;
  /// Under the mutex.
  [[nodiscard]] std::size_t free_cells() const noexcept {
    return free_.count + (batches_.size() * batch_size);
  }
  void fill_free();
  void add_slab();

  core& of_;
  mutable short_lock mutex_;
  std::vector<std::unique_ptr<slab>> slabs_;  // all below under the mutex
  std::vector<work*> batches_;  // of free cells, each of batch_size; has room for all there can be
  cell_cache free_;             // the others
  std::size_t made_ = 0;
  bool closed_ = false;
};

}  // namespace skua::inline SKUA_ABI

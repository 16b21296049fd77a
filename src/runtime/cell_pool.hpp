// src/runtime/cell_pool.hpp: the cells of a runtime's tasks, and who uses them now.
#pragma once

#include "runtime/task_cell.hpp"
#include "skua/base/abi.hpp"

#include <cstddef>
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

  work* first = nullptr;
  std::size_t count = 0;

  [[nodiscard]] task_cell* take() noexcept {
    if (first == nullptr) return nullptr;
    auto* const cell = static_cast<task_cell*>(first);
    first = std::exchange(cell->next, nullptr);
    --count;
    return cell;
  }
  void give(task_cell& cell) noexcept {
    cell.next = first;
    first = &cell;
    ++count;
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
  /// Half of a cache that is full, or all of it.
  void take_back(cell_cache& cache, std::size_t keep) noexcept;

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
  void add_slab();

  core& of_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<slab>> slabs_;  // all below under the mutex
  cell_cache free_;
  std::size_t made_ = 0;
  bool closed_ = false;
};

}  // namespace skua::inline SKUA_ABI

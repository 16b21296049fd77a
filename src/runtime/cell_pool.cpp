// src/runtime/cell_pool.cpp: slabs of cells, and a list of the free ones.
#include "runtime/cell_pool.hpp"

#include <memory>

namespace skua::inline SKUA_ABI {

cell_pool::slab* cell_pool::slab_at(std::size_t index) const noexcept {
  const std::lock_guard hold(mutex_);
  return index < slabs_.size() ? slabs_[index].get() : nullptr;
}

void cell_pool::add_slab() {
  const std::size_t batches = ((made_ + cells_per_slab) / batch_size) + 1;
  if (batches > batches_.capacity()) batches_.reserve(2 * batches);
  slabs_.push_back(std::make_unique<slab>(of_));
  for (task_cell& cell : slabs_.back()->cells()) free_.give(cell);
  made_ += cells_per_slab;
}

// So that there is one, at least, in free_.
void cell_pool::fill_free() {
  if (free_.first != nullptr) return;
  if (batches_.empty()) return add_slab();
  free_ = {.first = batches_.back(), .count = batch_size};
  batches_.pop_back();
}

task_cell& cell_pool::take() {
  const std::lock_guard hold(mutex_);
  fill_free();
  return *free_.take();
}

void cell_pool::refill(cell_cache& cache) {
  const std::lock_guard hold(mutex_);
  if (!batches_.empty()) {
    cache = {.first = batches_.back(), .count = batch_size};
    batches_.pop_back();
    return;
  }
  fill_free();
  for (std::size_t i = 0; i < cells_per_refill && free_.first != nullptr; ++i)
    cache.give(*free_.take());
}

bool cell_pool::give(task_cell& cell) noexcept {
  const std::lock_guard hold(mutex_);
  free_.give(cell);
  return closed_ && free_cells() == made_;
}

void cell_pool::take_half(cell_cache& cache) noexcept {
  work* const batch = cache.split();  // its walk is none of the others' business
  const std::lock_guard hold(mutex_);
  batches_.push_back(batch);
}

void cell_pool::take_all(cell_cache& cache) noexcept {
  const std::lock_guard hold(mutex_);
  while (task_cell* const cell = cache.take()) free_.give(*cell);
}

bool cell_pool::close() noexcept {
  const std::lock_guard hold(mutex_);
  closed_ = true;
  return free_cells() != made_;
}

}  // namespace skua::inline SKUA_ABI

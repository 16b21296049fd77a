// src/runtime/cell_pool.cpp: slabs of cells, and a list of the free ones.
#include "runtime/cell_pool.hpp"

#include <memory>

namespace skua::inline SKUA_ABI {

cell_pool::slab* cell_pool::slab_at(std::size_t index) const noexcept {
  const std::lock_guard hold(mutex_);
  return index < slabs_.size() ? slabs_[index].get() : nullptr;
}

void cell_pool::add_slab() {
  slabs_.push_back(std::make_unique<slab>(of_));
  for (task_cell& cell : slabs_.back()->cells()) free_.give(cell);
  made_ += cells_per_slab;
}

task_cell& cell_pool::take() {
  const std::lock_guard hold(mutex_);
  if (free_.first == nullptr) add_slab();
  return *free_.take();
}

void cell_pool::refill(cell_cache& cache) {
  const std::lock_guard hold(mutex_);
  if (free_.first == nullptr) add_slab();
  for (std::size_t i = 0; i < cells_per_refill && free_.first != nullptr; ++i)
    cache.give(*free_.take());
}

bool cell_pool::give(task_cell& cell) noexcept {
  const std::lock_guard hold(mutex_);
  free_.give(cell);
  return closed_ && free_.count == made_;
}

void cell_pool::take_back(cell_cache& cache, std::size_t keep) noexcept {
  const std::lock_guard hold(mutex_);
  while (cache.count > keep) free_.give(*cache.take());
}

bool cell_pool::close() noexcept {
  const std::lock_guard hold(mutex_);
  closed_ = true;
  return free_.count != made_;
}

}  // namespace skua::inline SKUA_ABI

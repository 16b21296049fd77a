// src/runtime/search.cpp: a worker without work looks at the others.
#include "runtime/core.hpp"
#include "runtime/worker.hpp"

namespace skua::inline SKUA_ABI {

work* worker::steal() noexcept {
  if (!unusual_.searching) {
    if (!runtime.idle_workers().try_search()) return nullptr;
    unusual_.searching = true;
  }
  work* const found = steal_once();
  if (found == nullptr) counters_.steal_misses.add();
  return found;
}

// The longest queue of those seen first; then the others, from a random one on. With deques the
// random one first: the oldest item in each is worth much, however many there are.
work* worker::steal_once() noexcept {
  const std::size_t count = runtime.worker_count();
  const auto start = static_cast<std::size_t>(random_.below(count));
  const auto victim = [&](std::size_t i) -> worker& {
    return runtime.worker_at((start + i) % count);
  };
  std::size_t longest = 0;
  for (std::size_t i = 1; i < count && newest_ == nullptr; ++i)
    if (victim(i).queued() > victim(longest).queued()) longest = i;
  for (std::size_t i = 0; i < count; ++i) {
    worker& other = victim((longest + i) % count);
    if (&other == this) continue;
    if (work* const item = steal_from(other)) return item;
  }
  return next_injected();
}

// Whoever added work while this one searched woke nobody, and relied on it. What they added is seen
// after stop_searching().
void worker::found_while_searching() noexcept {
  unusual_.searching = false;
  if (woken_shortly_) slept_shortly_ = true;
  woken_shortly_ = false;
  if (runtime.idle_workers().stop_searching() && (stealable() > 0 || work_elsewhere()))
    wake_another();
}

bool worker::work_elsewhere() const noexcept {
  if (runtime.inject().size() > 0) return true;
  for (std::size_t i = 0; i < runtime.worker_count(); ++i)
    if (i != index && runtime.worker_at(i).queued() > 0) return true;
  return false;
}

}  // namespace skua::inline SKUA_ABI

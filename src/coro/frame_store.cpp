// src/coro/frame_store.cpp: a stack of chains for each class, under one lock.
#include "coro/frame_store.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>

namespace skua::inline SKUA_ABI {
namespace {

/// What the first block of a stored chain holds.
struct stored_chain {
  frame_store::block link;
  stored_chain* below;
  unsigned count;
};
static_assert(sizeof(stored_chain) <= frame_classes::size(1));

constinit std::mutex mutex;
constinit std::array<stored_chain*, frame_lists::classes> stacks{};  // under the mutex
// Bytes; changed under the mutex.
constinit std::atomic<std::size_t> stored{0};
constinit std::atomic<std::size_t> stored_of_largest{0};

void add(std::atomic<std::size_t>& to, std::size_t bytes) noexcept {
  // order: none; a number that stands for itself.
  to.store(to.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
}

}  // namespace

void frame_store::note(std::size_t size_class, std::ptrdiff_t blocks) noexcept {
  const std::size_t bytes = frame_classes::size(size_class) * static_cast<std::size_t>(blocks);
  add(stored, bytes);
  if (size_class == largest_class) add(stored_of_largest, bytes);
}

frame_store::chain frame_store::pop(std::size_t size_class) noexcept {
  stored_chain* const top = stacks[size_class];
  if (top == nullptr) return {};
  stacks[size_class] = top->below;
  note(size_class, -static_cast<std::ptrdiff_t>(top->count));
  return {.first = &top->link, .count = top->count};
}

frame_store::chain frame_store::take(std::size_t size_class) noexcept {
  if (bytes() == 0) return {};
  const std::unique_lock hold(mutex, std::try_to_lock);
  return hold.owns_lock() ? pop(size_class) : chain{};
}

bool frame_store::give(std::size_t size_class, block* first, unsigned count) noexcept {
  const std::unique_lock hold(mutex, std::try_to_lock);
  if (!hold.owns_lock()) return false;
  if (!has_room(size_class, count)) return false;
  block* const next = first->next;  // before something else is there
  stacks[size_class] = ::new (first) stored_chain{{next}, stacks[size_class], count};
  note(size_class, count);
  return true;
}

void frame_store::free_all() noexcept {
  const std::unique_lock hold(mutex, std::try_to_lock);
  if (!hold.owns_lock()) return;
  for (std::size_t size_class = 1; size_class < frame_lists::classes; ++size_class) {
    while (stacks[size_class] != nullptr) {
      for (block* next = pop(size_class).first; next != nullptr;) {
        block* const one = next;
        next = one->next;
        std::free(one);
      }
    }
  }
}

std::size_t frame_store::bytes() noexcept {
  // order: none; a number that stands for itself.
  return stored.load(std::memory_order_relaxed);
}

std::size_t frame_store::largest_bytes() noexcept {
  // order: none; likewise.
  return stored_of_largest.load(std::memory_order_relaxed);
}

}  // namespace skua::inline SKUA_ABI

// src/coro/recycler.cpp: the thread's lists, opened at the first use, closed at thread exit.
#include "skua/coro/recycler.hpp"

#include "coro/frame_store.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

// Present only in a process that a sanitizer was linked into, whoever compiled this file.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
[[gnu::weak]] void __asan_init();
[[gnu::weak]] void __tsan_init();
[[gnu::weak]] void __msan_init();
}
// NOLINTEND(bugprone-reserved-identifier)

namespace skua::inline SKUA_ABI {

constinit thread_local frame_lists this_threads_frames{};

namespace {

enum class list_state : unsigned char { untouched, open, closed };

constinit thread_local list_state state = list_state::untouched;

constinit std::atomic<bool> switched_off{false};

constexpr unsigned most_kept(std::size_t size_class) noexcept {
  return static_cast<unsigned>(recycled_bytes_per_class / frame_classes::size(size_class));
}

void close_lists() noexcept {
  for (unsigned& room : this_threads_frames.room) room = 0;
  for (frame_lists::block*& head : this_threads_frames.head) {
    while (head != nullptr) {
      frame_lists::block* block = head;
      head = block->next;
      std::free(block);
    }
  }
  state = list_state::closed;
}

struct close_at_thread_exit {
  close_at_thread_exit() = default;
  close_at_thread_exit(const close_at_thread_exit&) = delete;
  close_at_thread_exit& operator=(const close_at_thread_exit&) = delete;
  ~close_at_thread_exit() { close_lists(); }
  void touch() noexcept {}
};
thread_local close_at_thread_exit closer;

bool sanitizer_present() noexcept {
  return __asan_init != nullptr || __tsan_init != nullptr || __msan_init != nullptr;
}

void open_lists() noexcept {
  // order: none; the switch is meant to be thrown before threads exist, and guards no data.
  if (switched_off.load(std::memory_order_relaxed) || sanitizer_present()) {
    state = list_state::closed;
    return;
  }
  closer.touch();  // registers the destructor for this thread
  for (std::size_t size_class = 1; size_class < frame_lists::classes; ++size_class)
    this_threads_frames.room[size_class] = most_kept(size_class);
  state = list_state::open;
}

bool lists_are_open() noexcept {
  if (state == list_state::untouched) open_lists();
  return state == list_state::open;
}

// The older half of a list that is full. The younger one, which is warm, stays.
bool store_half(std::size_t size_class) noexcept {
  const unsigned stays = most_kept(size_class) / 2;
  if (!frame_store::has_room(size_class, most_kept(size_class) - stays)) return false;
  frame_lists::block* last = this_threads_frames.head[size_class];
  for (unsigned i = 1; i < stays; ++i) last = last->next;
  if (!frame_store::give(size_class, last->next, most_kept(size_class) - stays)) return false;
  last->next = nullptr;
  this_threads_frames.room[size_class] = most_kept(size_class) - stays;
  return true;
}

}  // namespace

void* frame_lists::allocate_from_store(std::size_t size_class) {
  if (lists_are_open()) {
    const frame_store::chain got = frame_store::take(size_class);
    if (got.first != nullptr) {
      this_threads_frames.head[size_class] = got.first->next;
      this_threads_frames.room[size_class] = most_kept(size_class) - (got.count - 1);
      return got.first;
    }
  }
  return allocate_from_system(frame_classes::size(size_class));
}

void* frame_lists::allocate_from_system(std::size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void frame_lists::free_without_room(void* frame, std::size_t size_class) noexcept {
  this_threads_frames.room[size_class] = 0;  // the caller went below
  const bool was_open = state == list_state::open;
  if (lists_are_open() && (!was_open || store_half(size_class)))
    return free_frame(frame, frame_classes::size(size_class));
  std::free(frame);
}

void frame_lists::free_to_system(void* frame) noexcept {
  std::free(frame);
}

void switch_off_frame_recycling() noexcept {
  // order: none; see open_lists().
  switched_off.store(true, std::memory_order_relaxed);
  close_lists();
  frame_store::free_all();
}

std::size_t recycled_frame_bytes() noexcept {
  std::size_t bytes = 0;
  for (std::size_t size_class = 1; size_class < frame_lists::classes; ++size_class) {
    for (auto* b = this_threads_frames.head[size_class]; b != nullptr; b = b->next)
      bytes += frame_classes::size(size_class);
  }
  return bytes;
}

std::size_t stored_frame_bytes() noexcept {
  return frame_store::bytes();
}

}  // namespace skua::inline SKUA_ABI

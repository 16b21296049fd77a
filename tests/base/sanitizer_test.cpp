// tests/base/sanitizer_test.cpp: the constants match the program, and the annotations are heard.
#include "skua/base/sanitizer.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <thread>

// Present in the program only if it is linked with the run-time library of that sanitizer.
extern "C" {
[[gnu::weak]] void __asan_init();
[[gnu::weak]] void __tsan_init();
}

namespace {

TEST(sanitizer, constants_tell_what_is_linked) {
  EXPECT_EQ(skua::built_with_asan, &__asan_init != nullptr);
  EXPECT_EQ(skua::built_with_tsan, &__tsan_init != nullptr);
}

// One page that is seen at two addresses, as memory shared with the kernel is.
class page_seen_twice {
public:
  page_seen_twice() {
    const int file = memfd_create("page_seen_twice", MFD_CLOEXEC);
    EXPECT_EQ(ftruncate(file, size), 0);
    for (void*& view : views_)
      view = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
  }
  page_seen_twice(const page_seen_twice&) = delete;
  page_seen_twice& operator=(const page_seen_twice&) = delete;
  ~page_seen_twice() {
    for (void* view : views_) munmap(view, size);
  }

  std::atomic_ref<int> word(int view) { return std::atomic_ref(*static_cast<int*>(views_[view])); }

private:
  static constexpr int size = 4096;
  void* views_[2];
};

// The word orders both sides on any machine, but to ThreadSanitizer it is two words: it would
// report a race on the payload if it were not told.
TEST(sanitizer, annotations_make_a_hidden_hand_over_known) {
  page_seen_twice page;
  int payload = 0;
  std::thread sender([&] {
    payload = 7;
    skua::tsan_release(&payload);
    page.word(0).store(1, std::memory_order_release);
  });
  while (page.word(1).load(std::memory_order_acquire) == 0) std::this_thread::yield();
  skua::tsan_acquire(&payload);
  EXPECT_EQ(payload, 7);
  sender.join();
}

}  // namespace

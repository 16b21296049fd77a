// bench/coro/frame_recycler.cpp: how much faster a recycled frame is than one from malloc.
//
// 128 bytes, allocated and freed again, inlined as far as each allows, as in a coroutine.
#include "skua/coro/recycler.hpp"
#include "support/side_by_side.hpp"

#include <cstdint>
#include <cstdlib>

namespace {

constexpr std::size_t frame_size = 128;

void* skua_allocate() {
  return skua::allocate_frame(frame_size);
}
void skua_free(void* frame) {
  skua::free_frame(frame, frame_size);
}
void* system_allocate() {
  return std::malloc(frame_size);
}
void system_free(void* frame) {
  std::free(frame);
}

template <void* (*Allocate)(), void (*Free)(void*)>
unsigned long allocate_and_free(int rounds) {
  unsigned long sum = 0;
  for (int i = 0; i < rounds; ++i) {
    void* frame = Allocate();
    asm volatile("" : "+r"(frame) : : "memory");  // somebody might have used it
    sum += reinterpret_cast<std::uintptr_t>(frame);
    Free(frame);
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  return side_by_side(argc, argv, "allocate and free 128 B", 2'000'000,
                      {"recycler", allocate_and_free<skua_allocate, skua_free>},
                      {"malloc", allocate_and_free<system_allocate, system_free>});
}

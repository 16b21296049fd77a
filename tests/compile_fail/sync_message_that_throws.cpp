// tests/compile_fail/sync_message_that_throws.cpp: what a channel carries moves without throwing.
// expect: the move constructor of a message must not throw
#include "skua/sync/mpsc.hpp"

struct heavy {
  heavy(heavy&&) noexcept(false) {}
};

void wrong() {
  auto ends = skua::mpsc::channel<heavy>(1);
  ends.second.close();
}

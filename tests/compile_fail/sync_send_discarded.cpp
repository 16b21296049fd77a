// tests/compile_fail/sync_send_discarded.cpp: whether a message was sent is looked at.
// expect: nodiscard|unused-result
#include "skua/sync/mpsc.hpp"

void wrong(const skua::mpsc::sender<int>& to) {
  to.try_send(1);
}

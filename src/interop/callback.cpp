// src/interop/callback.cpp: one result, from whoever comes first.
#include "skua/interop/callback.hpp"

#include <stdexcept>

namespace skua::inline SKUA_ABI {

callback_state::claimed callback_state::claim() noexcept {
  word seen = word::open;
  // order: none; the result goes to the task by the completion of its leaf, and the leaf came to
  // us with the callback.
  if (word_.compare_exchange_strong(seen, word::claimed, std::memory_order_relaxed))
    return claimed::first;
  return seen == word::abandoned ? claimed::abandoned : claimed::again;
}

bool callback_state::abandon() noexcept {
  word seen = word::open;
  // order: none; nothing is handed over.
  return word_.compare_exchange_strong(seen, word::abandoned, std::memory_order_relaxed);
}

void callback_state::add_callback() noexcept {
  // order: none; whoever copies has one. The first is made by the task, which is an owner.
  // order: none; owners are counted like that, too.
  if (callbacks_.fetch_add(1, std::memory_order_relaxed) == 0)
    owners_.fetch_add(1, std::memory_order_relaxed);
}

void callback_state::drop_callback() noexcept {
  // order: [callback.copies] acq_rel: what was done through other copies.
  if (callbacks_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (claim() == claimed::first) {
    set_exception(std::make_exception_ptr(
        std::runtime_error("skua::from_callback: the callback was dropped and never called")));
    waiting->complete();
  }
  drop();
}

void callback_state::drop() noexcept {
  // order: [callback.owners] acq_rel: what the other owner did, before it ends here.
  if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

}  // namespace skua::inline SKUA_ABI

// src/sync/blocking.cpp: who is a worker must not block.
#include "skua/sync/blocking.hpp"

#include "runtime/current.hpp"

#include <stdexcept>
#include <string>

namespace skua::inline SKUA_ABI {

void refuse_on_worker(const char* what) {
  if (current().as != nullptr || current().lost != nullptr)
    throw std::logic_error(std::string("skua: ") + what +
                           " was called on a worker, where it would block other tasks: co_await "
                           "instead, or use block_in_place or spawn_blocking");
}

}  // namespace skua::inline SKUA_ABI

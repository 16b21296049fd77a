// src/coro/task_local.cpp: bindings are boundaries at which nothing stops.
#include "skua/coro/task_local.hpp"

#include "skua/coro/side_chain.hpp"

#include <utility>

namespace skua::inline SKUA_ABI {
namespace {

const char goes_on_elsewhere = 0;  // a key: the value is a context

}  // namespace

// In the list of the chain's boundaries, which nest like its frames. No frame is its child, so that
// unwinding never ends here: it destroys the frame that this is in, and so takes it off the list.
local_binding::local_binding(context& in, const void* key, void* value) noexcept
    : in_(in), key_(key), value_(value) {
  outer = in_.boundary;
  in_.boundary = this;
}

local_binding::local_binding(context& in, context& beyond) noexcept
    : local_binding(in, &goes_on_elsewhere, &beyond) {}

local_binding::~local_binding() {
  in_.boundary = outer;
}

void* local_binding::find(const context& from, const void* key) noexcept {
  const context* next = nullptr;
  for (const context* chain = &from; chain != nullptr; chain = std::exchange(next, nullptr)) {
    if (chain->is_side_chain) next = &static_cast<const side_chain*>(chain)->task();
    for (const stop_boundary* one = chain->boundary; one != nullptr; one = one->outer) {
      if (one->child != nullptr) continue;  // an as_outcome
      const auto* const binding = static_cast<const local_binding*>(one);
      if (binding->key_ == key) return binding->value_;
      if (binding->key_ == &goes_on_elsewhere) next = static_cast<const context*>(binding->value_);
    }
  }
  return nullptr;
}

}  // namespace skua::inline SKUA_ABI

// src/fiber/stack_pool.cpp: which slab a stack comes from, and what is kept of those given back.
#include "skua/fiber/stack_pool.hpp"

#include "fiber/stack_slab.hpp"
#include "skua/base/check.hpp"
#include "skua/base/intrusive_list.hpp"
#include "skua/base/short_lock.hpp"

#include <unistd.h>

#include <map>
#include <memory>
#include <system_error>

namespace skua::inline SKUA_ABI::fiber {

// System calls are made outside of the lock. A slab that has stacks to give is on the list of its
// size.
struct stack_pool::state {
  explicit state(const stack_pool_options& options)
      : how(options),
        guard(options.as_on_old_kernels() ? guard_kind::mapping : guard_kind::marker) {}

  [[nodiscard]] stack take_unused(std::size_t size) noexcept;
  [[nodiscard]] std::unique_ptr<stack_slab> make_slab(std::size_t size);
  [[nodiscard]] guard_kind claim_guards(std::size_t count);
  void drop_guards(std::size_t count) noexcept;
  [[nodiscard]] bool keeps(const stack_slab& one) noexcept;
  [[nodiscard]] std::unique_ptr<stack_slab> put_back(stack_slab& into, std::uint32_t index,
                                                     bool warm) noexcept;

  const stack_pool_options how;
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  short_lock lock;
  guard_kind guard;  // what the kernel can do, as far as we know
  std::map<std::size_t, intrusive_list<stack_slab>> with_unused;
  statistics now;
};

stack_pool::stack_pool(const stack_pool_options& how) : state_(new state(how)) {}

stack_pool::~stack_pool() {
  check(state_->now.live == 0, "a pool of stacks outlives its fibers");
  for (auto& [size, slabs] : state_->with_unused)
    while (stack_slab* const one = slabs.pop_front()) delete one;
  delete state_;
}

stack_pool& stack_pool::of_process() {
  static stack_pool& all = *new stack_pool;  // fibers of a runtime that was left alone may use it
  return all;
}

stack stack_pool::state::take_unused(std::size_t size) noexcept {
  const auto slabs = with_unused.find(size);
  stack_slab* const from = slabs == with_unused.end() ? nullptr : slabs->second.front();
  if (from == nullptr) return {};
  const std::uint32_t index = from->unused.back();
  from->unused.pop_back();
  if (from->unused.empty()) intrusive_list<stack_slab>::remove(*from);
  if (from->warm[index]) {
    from->warm[index] = false;
    --from->warm_count;
    now.kept_bytes -= size;
  }
  ++now.live;
  return from->at(index);
}

// Which guards a new slab gets.
guard_kind stack_pool::state::claim_guards(std::size_t count) {
  const short_hold held(lock);
  if (guard == guard_kind::marker) return guard_kind::marker;
  if (now.guarded_by_mapping + count <= how.guarded_by_mapping()) {
    now.guarded_by_mapping += count;
    return guard_kind::mapping;
  }
  return guard_kind::none;
}

void stack_pool::state::drop_guards(std::size_t count) noexcept {
  const short_hold held(lock);
  now.guarded_by_mapping -= count;
}

std::unique_ptr<stack_slab> stack_pool::state::make_slab(std::size_t size) {
  const std::size_t count = stack_slab::stacks_for(size);
  const guard_kind kind = claim_guards(count);
  if (kind == guard_kind::none && !how.unguarded_beyond())
    throw std::system_error(
        std::make_error_code(std::errc::resource_unavailable_try_again),
        "skua: no more guarded stacks for fibers on this kernel (stack_pool_options)");
  try {
    return std::make_unique<stack_slab>(size, kind);
  } catch (const std::system_error& refused) {
    if (kind == guard_kind::mapping) drop_guards(count);
    // EINVAL: a kernel before 6.13, or memory that is locked.
    if (kind != guard_kind::marker || refused.code() != std::errc::invalid_argument) throw;
  }
  {
    const short_hold held(lock);
    guard = guard_kind::mapping;
  }
  return make_slab(size);
}

stack stack_pool::take(std::size_t size) {
  size = (size + state_->page - 1) / state_->page * state_->page;
  {
    const short_hold held(state_->lock);
    if (const stack found = state_->take_unused(size); found.size != 0) return found;
  }
  std::unique_ptr<stack_slab> made = state_->make_slab(size);
  const short_hold held(state_->lock);
  auto& slabs = state_->with_unused[size];
  state_->now.mapped_bytes += made->mapped_bytes();
  slabs.push_front(*made.release());
  return state_->take_unused(size);
}

// Whether one more of its stacks may keep its memory.
bool stack_pool::state::keeps(const stack_slab& one) noexcept {
  const short_hold held(lock);
  if (now.kept_bytes + one.stack_size > how.kept_bytes()) return false;
  now.kept_bytes += one.stack_size;
  return true;
}

// The slab, if the whole of it is unused and there is enough without it.
std::unique_ptr<stack_slab> stack_pool::state::put_back(stack_slab& into, std::uint32_t index,
                                                        bool warm) noexcept {
  const short_hold held(lock);
  --now.live;
  if (into.unused.empty()) with_unused[into.stack_size].push_front(into);
  into.unused.push_back(index);
  into.warm[index] = warm;
  if (warm) ++into.warm_count;
  if (warm || into.unused.size() < into.count()) return nullptr;
  intrusive_list<stack_slab>::remove(into);
  now.kept_bytes -= into.warm_count * into.stack_size;
  now.mapped_bytes -= into.mapped_bytes();
  if (into.guard == guard_kind::mapping) now.guarded_by_mapping -= into.count();
  return std::unique_ptr<stack_slab>(&into);
}

void stack_pool::give_back(const stack& used) noexcept {
  stack_slab& slab = *used.slab;
  const bool warm = state_->keeps(slab);
  if (!warm) stack_slab::cool(used);
  static_cast<void>(state_->put_back(slab, slab.index_of(used), warm));  // unmapped here, if given
}

stack_pool::statistics stack_pool::look() const noexcept {
  const short_hold held(state_->lock);
  return state_->now;
}

}  // namespace skua::inline SKUA_ABI::fiber

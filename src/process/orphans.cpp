// src/process/orphans.cpp: children that nobody waits for any more.
#include "process/process_record.hpp"
#include "skua/runtime/named.hpp"

#include <memory>
#include <utility>

namespace skua::inline SKUA_ABI {
namespace {

/// Those that no runtime waits for: theirs has ended. The children of a process are the process's,
/// also when the runtime that started them is gone, and the kernel keeps the dead ones until this
/// process takes them, and no other can. So what is left of them is kept for the process as well,
/// to the very end of it. None in all but rare cases.
struct orphans {
  std::mutex mutex;
  process_record* first = nullptr;
};
constinit orphans of_process;

task<> take_end(orphan of) {
  const auto end = co_await of.record().wait();
  static_cast<void>(end);  // nobody asks
}

/// A task of `by`, or the orphan stays one.
void leave_to(const runtime_handle& by, orphan of) noexcept {
  try {
    by.spawn(named("skua::process reaps", take_end(std::move(of)))).detach();
  } catch (...) {
    // No memory for it, or no runtime any more: it has been left to the next who looks.
  }
}

void leave_to_the_next(process_record& of) noexcept {
  of.home.reset();
  const std::lock_guard hold(of_process.mutex);
  of.next_orphan = std::exchange(of_process.first, &of);
}

process_record* take_all() noexcept {
  const std::lock_guard hold(of_process.mutex);
  return std::exchange(of_process.first, nullptr);
}

process_record* pop(process_record*& first) noexcept {
  process_record* const one = first;
  if (one != nullptr) first = std::exchange(one->next_orphan, nullptr);
  return one;
}

/// True if that was its end.
bool is_over(process_record& of) noexcept {
  if (of.is_ours() && !of.take().has_value()) return false;
  const std::unique_ptr<process_record> last(&of);
  return true;
}

void look_at_orphans() noexcept {
  process_record* all = take_all();
  while (process_record* const one = pop(all))
    if (!is_over(*one)) leave_to_the_next(*one);
}

}  // namespace

orphan::orphan(orphan&& from) noexcept : record_(std::exchange(from.record_, nullptr)) {}

orphan::~orphan() {
  if (record_ != nullptr && !is_over(*record_)) leave_to_the_next(*record_);
}

void let_go(process_record& of) noexcept {
  if (!of.is_ours()) return;  // a copy in a forked child, which has no runtime: left as it is
  if (of.kill_when_dropped) of.kill_all();  // first: once its end is taken, its group is nobody's
  if (is_over(of)) return;
  look_at_orphans();
  const std::optional<runtime_handle> home = std::move(of.home);
  of.home.reset();
  if (home.has_value())
    leave_to(*home, orphan(of));
  else
    leave_to_the_next(of);
}

void adopt_orphans(const runtime_handle& by) noexcept {
  process_record* all = take_all();
  while (process_record* const one = pop(all))
    if (!is_over(*one)) leave_to(by, orphan(*one));
}

std::size_t count_orphans() noexcept {
  const std::lock_guard hold(of_process.mutex);
  std::size_t count = 0;
  for (const auto* one = of_process.first; one != nullptr; one = one->next_orphan) ++count;
  return count;
}

}  // namespace skua::inline SKUA_ABI

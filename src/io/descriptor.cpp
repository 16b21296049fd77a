// src/io/descriptor.cpp: names of owners, and the count of what is under way.
#include "skua/io/descriptor.hpp"

#include "skua/base/check.hpp"
#include "skua/io/fd_ref.hpp"
#include "skua/io/stream.hpp"

#include <atomic>
#include <utility>

namespace skua::inline SKUA_ABI::io {
namespace {

// Of the process, not of a runtime: a descriptor may be made outside, and used in several.
std::uint64_t new_name() noexcept {
  static constinit std::atomic<std::uint64_t> last = 0;
  // order: none; names only have to differ.
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

descriptor::descriptor(unique_fd fd) noexcept : fd_(std::move(fd)), name_(new_name()) {}

descriptor::descriptor(descriptor&& from) noexcept
    : fd_((from.check_idle(), std::move(from.fd_))), name_(std::exchange(from.name_, 0)) {}

descriptor& descriptor::operator=(descriptor&& from) noexcept {
  check_idle();
  from.check_idle();
  fd_ = std::move(from.fd_);
  name_ = std::exchange(from.name_, 0);
  return *this;
}

descriptor::~descriptor() {
  check_idle();
}

unique_fd descriptor::release() noexcept {
  check_idle();
  name_ = 0;
  return std::move(fd_);
}

io_operation<void> descriptor::close() noexcept {
  return io::close(release());
}

io_operation<std::size_t> descriptor::read(std::span<std::byte> into) const noexcept {
  return io::read(*this, into);
}

io_operation<std::size_t> descriptor::write(std::span<const std::byte> from) const noexcept {
  return io::write(*this, from);
}

void descriptor::operation_begins() const noexcept {
  // order: none; see check_idle().
  std::atomic_ref(under_way_).fetch_add(1, std::memory_order_relaxed);
}

void descriptor::operation_ended() const noexcept {
  // order: none; see check_idle().
  std::atomic_ref(under_way_).fetch_sub(1, std::memory_order_relaxed);
}

void descriptor::check_idle() const noexcept {
  // order: none; whoever may do this knows that the operations have ended, from the tasks that
  // awaited them. This finds those who do not.
  check(std::atomic_ref(under_way_).load(std::memory_order_relaxed) == 0,
        "a descriptor stays where it is, and open, while an operation on it is under way");
}

fd_ref::fd_ref(const descriptor& of) noexcept : number_(of.get()), of_(&of) {}

op_request fd_ref::request(op_code code) const noexcept {
  op_request what;
  what.code = code;
  what.fd = number_;
  if (of_ != nullptr) what.owner = of_->name_;
  return what;
}

}  // namespace skua::inline SKUA_ABI::io

// tests/support/ledger.hpp: counts objects across threads: each is destroyed once, none is leaked.
#pragma once

#include <atomic>

namespace skua_test {

/// Keeps the books of the `entry`s made with it, which it outlives.
struct ledger {
  std::atomic<int> made = 0;   ///< not counting those that were moved into
  std::atomic<int> ended = 0;  ///< not counting those that were moved from
  std::atomic<int> alive = 0;  ///< counting all
  std::atomic<int> wrong =
      0;  ///< used at an address where none was made: copied bytewise, or twice

  /// So many were made; each ended once; nothing is left.
  [[nodiscard]] bool balanced(int objects) const {
    return made == objects && ended == objects && alive == 0 && wrong == 0;
  }
};

/// Can be moved. Its end counts for the one that was not moved from.
class entry {
public:
  explicit entry(ledger& book) noexcept : book_(&book), whole_(true) {
    ++book_->made;
    ++book_->alive;
  }
  entry(entry&& from) noexcept : book_(from.book_), whole_(from.whole_) {
    from.expect_sound();
    from.whole_ = false;
    ++book_->alive;
  }
  entry& operator=(entry&& from) = delete;
  ~entry() {
    expect_sound();
    self_ = nullptr;
    --book_->alive;
    if (whole_) ++book_->ended;
  }

  /// False once it was moved from.
  [[nodiscard]] bool whole() const noexcept {
    expect_sound();
    return whole_;
  }

private:
  void expect_sound() const noexcept {
    if (self_ != this) ++book_->wrong;
  }

  const entry* self_ = this;
  ledger* book_;
  bool whole_;
};

}  // namespace skua_test

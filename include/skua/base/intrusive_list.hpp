// skua/base/intrusive_list.hpp: a doubly linked list that owns and allocates nothing.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/base/check.hpp"

namespace skua::inline SKUA_ABI {

template <typename T, typename Tag>
class intrusive_list;

/// Public base of whatever can be on a list. One base per tag: an object may be on as many lists at
/// once as it has tags. Where several bases make a call ambiguous, name the one that is meant:
/// `item.list_link<by_age>::is_linked()`. An element leaves its list before it is destroyed.
template <typename Tag = void>
class list_link {
public:
  list_link() = default;
  list_link(const list_link&) = delete;
  list_link& operator=(const list_link&) = delete;
  ~list_link() { check(!is_linked(), "an element leaves its list before it dies"); }

  [[nodiscard]] bool is_linked() const noexcept { return next_ != nullptr; }

private:
  template <typename, typename>
  friend class intrusive_list;

  // Both null while on no list. A list is a ring closed by its own link, so that an element can be
  // taken out without a look at the list.
  list_link* previous_ = nullptr;
  list_link* next_ = nullptr;
};

/// Elements stay where they are and belong to someone else. Everything but iteration is O(1).
/// Not thread-safe. Dies empty.
template <typename T, typename Tag = void>
class intrusive_list {
  using link = list_link<Tag>;

public:
  intrusive_list() noexcept { close(); }

  /// Takes every element of `from`, which is left empty.
  intrusive_list(intrusive_list&& from) noexcept {
    close();
    append(from);
  }

  intrusive_list& operator=(intrusive_list&&) = delete;

  ~intrusive_list() {
    check(empty(), "a list dies empty");
    ring_.previous_ = ring_.next_ = nullptr;
  }

  [[nodiscard]] bool empty() const noexcept { return ring_.next_ == &ring_; }

  /// The first element, or null.
  [[nodiscard]] T* front() const noexcept { return empty() ? nullptr : element(ring_.next_); }

  void push_back(T& item) noexcept { insert(ring_.previous_, item, &ring_); }
  void push_front(T& item) noexcept { insert(&ring_, item, ring_.next_); }

  /// Removes and returns the first element; null if there is none.
  T* pop_front() noexcept {
    T* const first = front();
    if (first != nullptr) remove(*first);
    return first;
  }

  /// Takes `item` off the list it is on, which must be one of this type and need not be at hand.
  static void remove(T& item) noexcept {
    link& gone = item;
    check(gone.is_linked(), "only a linked element is removed");
    gone.previous_->next_ = gone.next_;
    gone.next_->previous_ = gone.previous_;
    gone.previous_ = gone.next_ = nullptr;
  }

  /// Moves every element of `from`, in order, behind our last. `from` is left empty.
  void append(intrusive_list& from) noexcept {
    check(&from != this, "a list is appended to another list");
    if (from.empty()) return;
    from.ring_.next_->previous_ = ring_.previous_;
    ring_.previous_->next_ = from.ring_.next_;
    from.ring_.previous_->next_ = &ring_;
    ring_.previous_ = from.ring_.previous_;
    from.close();
  }

  /// Brings all elements closer, for a walk that follows. If they were not looked at for long each
  /// step from one to the next is a wait for memory; from both ends at once it is half as many.
  void fetch() const noexcept {
    const link* front = ring_.next_;
    const link* back = ring_.previous_;
    while (front != back && front->previous_ != back) {
      front = front->next_;
      back = back->previous_;
    }
    // The compiler must not find that nothing came of it.
    asm volatile("" : : "r"(front), "r"(back));
  }

  /// Knows the element after the current one: the loop's body may remove or destroy the current
  /// element, but must not remove the one that follows. What it pushes behind the last element is
  /// not visited if the last element is the current one.
  class iterator {
  public:
    T& operator*() const noexcept { return *element(current_); }
    T* operator->() const noexcept { return element(current_); }
    iterator& operator++() noexcept {
      current_ = following_;
      following_ = current_->next_;
      return *this;
    }
    bool operator==(const iterator& other) const noexcept { return current_ == other.current_; }

  private:
    friend class intrusive_list;
    explicit iterator(link* current) noexcept : current_(current), following_(current->next_) {}

    link* current_;
    link* following_;
  };

  iterator begin() noexcept { return iterator(ring_.next_); }
  iterator end() noexcept { return iterator(&ring_); }

private:
  static T* element(link* of) noexcept { return static_cast<T*>(of); }

  static void insert(link* before, T& item, link* after) noexcept {
    link& entering = item;
    check(!entering.is_linked(), "an element enters a list unlinked");
    entering.previous_ = before;
    entering.next_ = after;
    before->next_ = &entering;
    after->previous_ = &entering;
  }

  void close() noexcept { ring_.previous_ = ring_.next_ = &ring_; }

  link ring_;  // next_ is the first element, previous_ the last; both itself if there is none
};

}  // namespace skua::inline SKUA_ABI

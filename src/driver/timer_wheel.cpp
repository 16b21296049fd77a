// src/driver/timer_wheel.cpp: filing by digits of the tick, turning, and exact order.
#include "driver/timer_wheel.hpp"

#include "skua/base/check.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace skua::inline SKUA_ABI {
namespace {

/// Moves the timers at the head of `from`, as far as their deadlines do not fall, to `run`.
/// Returns the last of those.
std::int64_t take_run(timer_list& from, timer_list& run) noexcept {
  std::int64_t last = 0;
  do {
    timer& next = *from.pop_front();
    last = next.deadline;
    run.push_back(next);
  } while (!from.empty() && from.front()->deadline >= last);
  return last;
}

/// Merges `newer` into `older`. Of equal deadlines those of `older` come first.
void merge(timer_list& older, timer_list& newer) noexcept {
  timer_list merged;
  while (!older.empty() && !newer.empty()) {
    const bool newer_first = newer.front()->deadline < older.front()->deadline;
    merged.push_back(*(newer_first ? newer : older).pop_front());
  }
  merged.append(older);
  merged.append(newer);
  older.append(merged);
}

/// Merge sort, stable, from the bottom up: heap n is empty or holds 2^n runs, and those of a higher
/// heap come from further ahead in the list. Returns the latest deadline.
std::int64_t sort(timer_list& items) noexcept {
  std::int64_t latest = std::numeric_limits<std::int64_t>::min();
  std::array<timer_list, 48> heaps;  // more runs than memory holds timers
  while (!items.empty()) {
    timer_list run;
    latest = std::max(latest, take_run(items, run));
    std::size_t n = 0;
    for (; !heaps[n].empty(); ++n) {
      merge(heaps[n], run);
      run.append(heaps[n]);
    }
    heaps[n].append(run);
  }
  for (timer_list& heap : heaps) {
    merge(heap, items);
    items.append(heap);
  }
  return latest;
}

}  // namespace

timer_wheel::~timer_wheel() {
  check(empty(), "a timer wheel dies empty");
}

std::size_t timer_wheel::place_of(std::uint64_t tick, std::uint64_t now) noexcept {
  const std::uint64_t differs = tick ^ now;
  if (differs < lowest_slots) return place_of_current(tick);
  const int highest_bit = 63 - std::countl_zero(differs);
  const int level = (highest_bit - lowest_digit_bits) / digit_bits;  // above the lowest
  const std::uint64_t digit = tick >> (lowest_digit_bits + level * digit_bits) & (upper_slots - 1);
  return lowest_slots + static_cast<std::size_t>(level) * upper_slots + digit;
}

std::size_t timer_wheel::first_occupied() const noexcept {
  if (occupied_words_ == 0) return nowhere;
  const auto word = static_cast<std::size_t>(std::countr_zero(occupied_words_));
  return word * in_word + static_cast<std::size_t>(std::countr_zero(occupied_[word]));
}

void timer_wheel::insert(timer& item, std::int64_t now) noexcept {
  // An empty wheel may turn freely, which spares the new timer to be filed anew later. With timers
  // in it, it turns only in advance(), which has a place for those that become due.
  if (empty()) tick_ = std::max(tick_, tick_of(now));
  file(item);
  ++size_;
}

void timer_wheel::insert_length(timer& item) noexcept {
  lengths_.push_back(item);
  item.slot_ = timer::not_begun;
  ++size_;
}

void timer_wheel::begin_lengths(std::int64_t now) noexcept {
  while (timer* const item = lengths_.pop_front()) {
    if (__builtin_add_overflow(now, item->deadline, &item->deadline)) item->deadline = no_deadline;
    file(*item);
  }
}

void timer_wheel::file(timer& item) noexcept {
  const std::uint64_t tick = std::max(tick_of(item.deadline), tick_);
  const std::size_t place = place_of(tick, tick_);
  slot& target = slots_[place];
  if (tick == tick_) note_order(target, item.deadline);
  target.items.push_back(item);
  target.earliest = std::min(target.earliest, item.deadline);
  occupied_[place / in_word] |= std::uint64_t{1} << place % in_word;
  occupied_words_ |= std::uint64_t{1} << place / in_word;
  item.slot_ = static_cast<std::uint16_t>(place);
}

/// One with that deadline will be the last of the current slot.
void timer_wheel::note_order(const slot& current, std::int64_t deadline) noexcept {
  in_order_ = current.items.empty() || (in_order_ && deadline >= latest_);
  latest_ = deadline;
}

void timer_wheel::put_in_order(slot& current) noexcept {
  current.items.fetch();
  latest_ = sort(current.items);
  in_order_ = true;
}

bool timer_wheel::remove(timer& item) noexcept {
  if (!item.linked()) return false;
  const std::size_t place = item.slot_;
  timer_list::remove(item);
  item.slot_ = timer::no_slot;
  --size_;
  if (place != timer::not_begun && slots_[place].items.empty()) set_empty(place);
  return true;
}

void timer_wheel::set_empty(std::size_t place) noexcept {
  slots_[place].earliest = no_deadline;
  std::uint64_t& word = occupied_[place / in_word];
  word &= ~(std::uint64_t{1} << place % in_word);
  if (word == 0) occupied_words_ &= ~(std::uint64_t{1} << place / in_word);
}

void timer_wheel::advance(std::int64_t now, timer_list& expired) noexcept {
  const std::uint64_t tick = tick_of(now);
  if (tick > tick_) turn_to(tick, expired);
  begin_lengths(now);
  if (slots_[place_of_current(tick_)].earliest <= now) hand_out_current(now, expired);
}

/// Hands out all that is due before `tick`, which becomes the current one.
void timer_wheel::turn_to(std::uint64_t tick, timer_list& expired) noexcept {
  // The highest digit that changes grows: slots of its level before the new one are over, and so is
  // all of the levels below, whose timers have the old digit. Levels above keep their meaning.
  const std::size_t entered = place_of(tick, tick_);
  for (std::size_t place = first_occupied(); place < entered; place = first_occupied())
    hand_out(place, expired);
  tick_ = tick;
  in_order_ = false;
  if (entered >= lowest_slots) file_anew(entered);
}

/// Files the timers of an upper slot that time has entered on the levels below, which are empty.
void timer_wheel::file_anew(std::size_t place) noexcept {
  timer_list moving;
  moving.append(slots_[place].items);
  set_empty(place);
  while (timer* const item = moving.pop_front()) file(*item);
}

/// Hands out all of a slot that is over.
void timer_wheel::hand_out(std::size_t place, timer_list& expired) noexcept {
  timer_list due;
  due.append(slots_[place].items);
  set_empty(place);
  due.fetch();
  bool in_order = true;
  std::int64_t latest = std::numeric_limits<std::int64_t>::min();
  for (timer& item : due) {
    in_order &= item.deadline >= latest;
    latest = item.deadline;
    item.slot_ = timer::no_slot;
    --size_;
  }
  if (!in_order) sort(due);
  expired.append(due);
}

/// Hands out what is due of the current slot.
void timer_wheel::hand_out_current(std::int64_t now, timer_list& expired) noexcept {
  const std::size_t place = place_of_current(tick_);
  slot& current = slots_[place];
  if (!in_order_) put_in_order(current);
  while (timer* const first = current.items.front()) {
    if (first->deadline > now) {
      current.earliest = first->deadline;
      return;
    }
    timer_list::remove(*first);
    first->slot_ = timer::no_slot;
    --size_;
    expired.push_back(*first);
  }
  set_empty(place);
}

std::int64_t timer_wheel::next_deadline() const noexcept {
  check(!has_lengths(), "a length has no deadline before it begins");
  const std::size_t first = first_occupied();
  return first == nowhere ? no_deadline : slots_[first].earliest;
}

}  // namespace skua::inline SKUA_ABI

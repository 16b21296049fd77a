// tests/model/atomic.hpp: shared objects whose every use the explorer sees.
#pragma once

#include "model/explorer.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <string_view>
#include <vector>

namespace skua_model {

/// Weakens the memory order of one place, to show that a scenario would notice.
struct order_mutant {
  std::string_view function;  ///< The place: a function's name, as it stands in its signature.
  enum class side : unsigned char { acquire, release, both } drops = side::both;
};

/// The mutant in force; null: none.
inline const order_mutant* active_mutant = nullptr;

inline std::memory_order mutated(std::memory_order order, const std::source_location& where) {
  if (active_mutant == nullptr) return order;
  if (std::string_view(where.function_name()).find(active_mutant->function) ==
      std::string_view::npos)
    return order;
  using side = order_mutant::side;
  const bool acquires = order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
                        order == std::memory_order_seq_cst;
  const bool releases = order == std::memory_order_release || order == std::memory_order_acq_rel ||
                        order == std::memory_order_seq_cst;
  const bool keep_acquire = acquires && active_mutant->drops == side::release;
  const bool keep_release = releases && active_mutant->drops == side::acquire;
  if (keep_acquire) return std::memory_order_acquire;
  if (keep_release) return std::memory_order_release;
  return std::memory_order_relaxed;
}

/// Tells whoever comes too late; not for certain, since the memory may be in use again.
class lifetime {
public:
  void end() {
    // order: none; all fibers are one thread. Atomic, so that the last store of a life is made.
    mark_.store(0, std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_over() const {
    // order: none; see above.
    return mark_.load(std::memory_order_relaxed) != alive;
  }

private:
  static constexpr std::uint32_t alive = 0x5ca1ab1e;
  std::atomic<std::uint32_t> mark_{alive};
};

/// std::atomic on the model: keeps all stores, and lets a load see each that the standard allows.
template <typename T>
class atomic {
  // NOLINTNEXTLINE(bugprone-sizeof-expression): T may be a pointer
  static_assert(sizeof(T) <= sizeof(std::uint64_t) && std::is_trivially_copyable_v<T>);
  using order = std::memory_order;
  using location = std::source_location;

public:
  atomic(T initial = T()) { stores_.push_back(store_record(initial)); }  // NOLINT
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  ~atomic() { life_.end(); }

  T load(order as, location where = location::current()) const {
    explorer& run = next_step();
    as = mutated(as, where);
    const std::uint32_t now = run.tick();
    const candidates able = visible(run, as);
    return read(run, able.at[run.choose(able.count)], now, as);
  }

  void store(T value, order as, location where = location::current()) {
    explorer& run = next_step();
    as = mutated(as, where);
    const std::uint32_t now = run.tick();
    append(run, value, now, as, vector_clock());
  }

  T exchange(T value, order as, location where = location::current()) {
    return modify(as, where, [&](T) { return value; });
  }
  T fetch_add(T by, order as, location where = location::current()) {
    return modify(as, where, [&](T old) { return static_cast<T>(old + by); });
  }
  T fetch_sub(T by, order as, location where = location::current()) {
    return modify(as, where, [&](T old) { return static_cast<T>(old - by); });
  }
  T fetch_or(T bits, order as, location where = location::current()) {
    return modify(as, where, [&](T old) { return static_cast<T>(old | bits); });
  }
  T fetch_and(T bits, order as, location where = location::current()) {
    return modify(as, where, [&](T old) { return static_cast<T>(old & bits); });
  }

  /// The weak form never fails for nothing here: that would only repeat the caller's loop. A failed
  /// one reads like a load, so it too may see a stale value.
  bool compare_exchange_strong(T& expected, T desired, order success, order failure,
                               location where = location::current()) {
    explorer& run = next_step();
    success = mutated(success, where);
    failure = mutated(failure, where);
    const std::uint32_t now = run.tick();
    const std::size_t latest = stores_.size() - 1;
    if (same(stores_[latest].value, expected)) {
      const vector_clock continued = stores_[latest].released;
      read(run, latest, now, success);
      append(run, desired, now, success, continued);
      return true;
    }
    // Any visible store that differs from `expected` is a legal reason to fail.
    const candidates reasons = visible(run, failure, &expected);
    expected = read(run, reasons.at[run.choose(reasons.count)], now, failure);
    return false;
  }
  bool compare_exchange_weak(T& expected, T desired, order success, order failure,
                             location where = location::current()) {
    return compare_exchange_strong(expected, desired, success, failure, where);
  }

  /// For other parts of the model, no step: the last value, whoever may see it.
  [[nodiscard]] T latest() const { return stores_.back().value; }

private:
  struct store_record {
    explicit store_record(T initial) : value(initial) {}
    T value;
    vector_clock released;  ///< What an acquiring reader learns; empty if relaxed.
    std::size_t thread = 0;
    std::uint32_t when = 0;
    bool seq_cst = false;
  };
  struct read_record {
    std::size_t thread;
    std::uint32_t when;
    std::size_t seen;
  };

  struct candidates {
    std::array<std::size_t, 64> at;
    std::size_t count = 0;
  };

  /// Whoever is interrupted here may find the object gone when it goes on.
  explorer& next_step() const {
    explorer& run = explorer::current();
    run.step();
    if (life_.is_over()) run.fail("an atomic is used after its end");
    return run;
  }

  // NOLINTNEXTLINE(bugprone-sizeof-expression): T may be a pointer
  static bool same(const T& a, const T& b) { return std::memcmp(&a, &b, sizeof(T)) == 0; }
  static bool acquires(order as) {
    return as == order::acquire || as == order::acq_rel || as == order::seq_cst;
  }
  static bool releases(order as) {
    return as == order::release || as == order::acq_rel || as == order::seq_cst;
  }

  /// Coherence: nothing older than a store or a read that happens before this one; a seq_cst load
  /// sees the last seq_cst store or a later one.
  std::size_t oldest_visible(explorer& run, bool seq_cst) const {
    std::size_t oldest = 0;
    for (std::size_t i = stores_.size(); i-- > 0;) {
      const store_record& one = stores_[i];
      if (run.clock().covers(one.thread, one.when) || (seq_cst && one.seq_cst)) {
        oldest = i;
        break;
      }
    }
    for (const read_record& one : reads_)
      if (one.seen > oldest && run.clock().covers(one.thread, one.when)) oldest = one.seen;
    return oldest;
  }

  /// The stores that a load may see, the last one first, other than those of `except`. Of stores of
  /// one value a relaxed load tries only the oldest: who has seen that may still see all the others
  /// later, so that nothing is left out.
  candidates visible(explorer& run, order as, const T* except = nullptr) const {
    candidates able;
    const std::size_t oldest = oldest_visible(run, as == order::seq_cst);
    for (std::size_t i = stores_.size(); i-- > oldest;) {
      if (except != nullptr && same(stores_[i].value, *except)) continue;
      std::size_t place = able.count;
      if (as == order::relaxed)
        for (std::size_t j = 0; j < able.count; ++j)
          if (same(stores_[able.at[j]].value, stores_[i].value)) place = j;
      if (place == able.at.size()) run.fail("too many stores that one load may see");
      able.at[place] = i;
      able.count = std::max(able.count, place + 1);
    }
    return able;
  }

  T read(explorer& run, std::size_t seen, std::uint32_t now, order as) const {
    reads_.push_back({run.thread(), now, seen});
    if (acquires(as)) run.clock().join(stores_[seen].released);
    return stores_[seen].value;
  }

  void append(explorer& run, T value, std::uint32_t now, order as, const vector_clock& continued) {
    store_record one(value);
    one.thread = run.thread();
    one.when = now;
    one.seq_cst = as == order::seq_cst;
    one.released = continued;  // a read-modify-write carries on the release sequence it found
    if (releases(as)) one.released.join(run.clock());
    stores_.push_back(one);
  }

  template <typename Change>
  T modify(order as, const location& where, Change change) {
    explorer& run = next_step();
    as = mutated(as, where);
    const std::uint32_t now = run.tick();
    const std::size_t latest = stores_.size() - 1;
    const vector_clock continued = stores_[latest].released;
    const T old = read(run, latest, now, as);
    append(run, change(old), now, as, continued);
    return old;
  }

  std::vector<store_record> stores_;
  mutable std::vector<read_record> reads_;
  lifetime life_;
};

/// A plain shared variable: two uses that no order connects, one of them a write, are a failure.
template <typename T>
class plain {
public:
  plain(T initial = T()) : value_(initial) {}  // NOLINT
  plain(const plain&) = delete;
  plain& operator=(const plain&) = delete;
  ~plain() { life_.end(); }

  [[nodiscard]] T read() const {
    explorer& run = explorer::current();
    if (life_.is_over()) run.fail("a variable is used after its end");
    if (!run.clock().covers(writer_, written_)) run.fail("data race: a read beside a write");
    readers_.seen[run.thread()] = run.tick();
    return value_;
  }
  void write(T value) {
    explorer& run = explorer::current();
    if (!run.clock().covers(writer_, written_)) run.fail("data race: two writes");
    for (std::size_t i = 0; i < threads_max; ++i)
      if (!run.clock().covers(i, readers_.seen[i])) run.fail("data race: a write beside a read");
    writer_ = run.thread();
    written_ = run.tick();
    value_ = value;
  }

private:
  T value_;
  lifetime life_;
  std::size_t writer_ = 0;
  std::uint32_t written_ = 0;
  mutable vector_clock readers_;
};

class mutex {
public:
  void lock() {
    explorer& run = explorer::current();
    run.step();
    if (held_) run.block_until([this] { return !held_; }, "a mutex");
    held_ = true;
    run.clock().join(released_);
  }
  void unlock() {
    explorer& run = explorer::current();
    run.tick();
    released_ = run.clock();
    held_ = false;
  }

private:
  bool held_ = false;
  vector_clock released_;
};

/// The policy under which shipped code runs in the explorer.
struct atomics {
  template <typename T>
  using atomic = skua_model::atomic<T>;
  template <typename T>
  using plain = skua_model::plain<T>;
  using mutex = skua_model::mutex;
};

}  // namespace skua_model

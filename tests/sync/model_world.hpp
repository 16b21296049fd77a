// tests/sync/model_world.hpp: the primitives again, one step after the other, as simple as can be.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace skua_test {

/// A step of a program.
struct step {
  enum class kind : unsigned char {
    lock,        // the mutex, until the end or unlock
    unlock,      // what was taken last, mutex or permits
    acquire,     // `amount` permits, likewise
    send,        // the number of the step, to the channel
    receive,     // from the channel
    notify_one,  //
    notify_all,  //
    wait,        // for a notification
    set,         // the event
    reset,       //
    wait_event,  //
    yield,
  };
  kind what = kind::yield;
  std::size_t amount = 0;
};
using program = std::vector<step>;

inline constexpr std::size_t model_permits = 3;
inline constexpr std::size_t model_capacity = 2;

/// Runs programs by the words of the headers: lines are first come, first served; who waits is
/// queued when it is granted something, and takes it when it runs; who is first in line for the
/// mutex is told that it is free, and insists if it is not when it comes; a stop is seen where a
/// task would wait. Writes down what happened, in order.
class model_world {
public:
  explicit model_world(const std::vector<program>& programs) {
    for (const program& one : programs) tasks_.emplace_back().steps = &one;
    for (std::size_t i = 0; i < tasks_.size(); ++i) ready_.push_back(i);
  }

  /// Runs one task until it waits; false if none is ready.
  bool run_one() {
    if (ready_.empty()) return false;
    const std::size_t who = ready_.front();
    ready_.pop_front();
    if (std::exchange(tasks_[who].told, false))
      come(who);
    else
      resume(who);
    return true;
  }

  void stop(std::size_t who) {
    one_task& task = tasks_[who];
    if (task.ended || std::exchange(task.stop, true)) return;
    if (task.in == nullptr || task.told) return;  // it is ready, and will see
    std::erase(*task.in, who);
    task.in = nullptr;
    task.unwinds = true;
    if (task.waits_for == step::kind::acquire) serve_permits();
    ready_.push_back(who);
  }

  [[nodiscard]] bool waits(std::size_t who) const { return tasks_[who].in != nullptr; }
  [[nodiscard]] const std::string& log() const { return log_; }

private:
  using line = std::deque<std::size_t>;
  struct one_task {
    const program* steps = nullptr;
    std::size_t next = 0;
    line* in = nullptr;    // where it waits
    bool granted = false;  // what it waited for
    bool told = false;     // that the mutex is free: it is in line still, and comes
    bool insists = false;  // it came, and the mutex was held
    bool stop = false;
    bool unwinds = false;
    bool yielded = false;
    bool began = false;
    bool ended = false;
    step::kind waits_for{};
    std::vector<std::size_t> held;  // 0: the mutex; otherwise as many permits
  };

  void say(std::size_t who, const std::string& what) {
    log_ += std::to_string(who) + ':' + std::to_string(tasks_[who].next) + what + ' ';
  }

  void resume(std::size_t who) {
    one_task& task = tasks_[who];
    if (!std::exchange(task.began, true) && task.stop) {  // it never runs a line
      task.ended = true;
      return;
    }
    const bool at_rest = std::exchange(task.yielded, false);
    if (task.unwinds || (at_rest && task.stop)) return end(who, "x");
    if (std::exchange(task.granted, false)) finish_wait(who);
    while (task.next < task.steps->size())
      if (!take_step(who)) return;
    end(who, "e");
  }

  void end(std::size_t who, const char* how) {
    one_task& task = tasks_[who];
    say(who, how);
    task.ended = true;
    while (!task.held.empty()) give_back(who);
  }

  void give_back(std::size_t who) {
    const std::size_t what = tasks_[who].held.back();
    tasks_[who].held.pop_back();
    if (what > 0) {
      permits_ += what;
      serve_permits();
    } else {
      unlock();
    }
  }

  void unlock() {
    locked_ = !mutex_line_.empty() && tasks_[mutex_line_.front()].insists;
    if (locked_)
      grant(mutex_line_);
    else if (!mutex_line_.empty() && !std::exchange(tasks_[mutex_line_.front()].told, true))
      ready_.push_back(mutex_line_.front());
  }

  void come(std::size_t who) {
    one_task& task = tasks_[who];
    if (task.stop) {
      mutex_line_.pop_front();
      task.in = nullptr;
      task.unwinds = true;
      if (!locked_) unlock();
      ready_.push_back(who);
    } else if (locked_) {
      task.insists = true;
    } else {
      locked_ = true;
      grant(mutex_line_);
    }
  }

  std::size_t grant(line& from) {
    const std::size_t who = from.front();
    from.pop_front();
    tasks_[who].in = nullptr;
    tasks_[who].granted = true;
    ready_.push_back(who);
    return who;
  }

  /// False: it waits, or is unwound instead.
  bool wait_in(std::size_t who, line& where) {
    one_task& task = tasks_[who];
    if (task.stop) {
      end(who, "x");
      return false;
    }
    task.waits_for = (*task.steps)[task.next].what;
    task.in = &where;
    task.insists = false;
    where.push_back(who);
    return false;
  }

  void done(std::size_t who, const std::string& what) {
    say(who, what);
    ++tasks_[who].next;
  }

  void serve_permits() {
    while (!permit_line_.empty()) {
      const one_task& first = tasks_[permit_line_.front()];
      const std::size_t wanted = (*first.steps)[first.next].amount;
      if (permits_ < wanted) return;
      permits_ -= wanted;
      grant(permit_line_);
    }
  }

  void serve_channel() {
    while (!receiving_.empty() && messages_.size() > promised_) {
      ++promised_;
      grant(receiving_);
    }
    while (!sending_.empty() && messages_.size() + reserved_ < model_capacity) {
      ++reserved_;
      grant(sending_);
    }
  }

  void put(std::size_t who) {
    messages_.push_back((who * 100) + tasks_[who].next);
    done(who, "s");
    serve_channel();
  }
  void get(std::size_t who) {
    const std::size_t message = messages_.front();
    messages_.pop_front();
    done(who, "r" + std::to_string(message));
    serve_channel();
  }

  void finish_wait(std::size_t who) {
    one_task& task = tasks_[who];
    switch (task.waits_for) {
      case step::kind::lock:
        task.held.push_back(0);
        return done(who, "l");
      case step::kind::acquire:
        task.held.push_back((*task.steps)[task.next].amount);
        return done(who, "a");
      case step::kind::send:
        --reserved_;
        return put(who);
      case step::kind::receive:
        --promised_;
        return get(who);
      case step::kind::wait:
        return done(who, "w");
      default:
        return done(who, "v");
    }
  }

  bool take_step(std::size_t who) {
    one_task& task = tasks_[who];
    const step now = (*task.steps)[task.next];
    switch (now.what) {
      case step::kind::lock:
        if (std::ranges::find(task.held, 0U) != task.held.end()) break;  // it has it
        if (locked_) return wait_in(who, mutex_line_);
        locked_ = true;
        task.held.push_back(0);
        done(who, "l");
        return true;
      case step::kind::unlock:
        if (!task.held.empty()) give_back(who);
        break;
      case step::kind::acquire:
        if (!permit_line_.empty() || permits_ < now.amount) return wait_in(who, permit_line_);
        permits_ -= now.amount;
        task.held.push_back(now.amount);
        done(who, "a");
        return true;
      case step::kind::send:
        if (messages_.size() + reserved_ >= model_capacity) return wait_in(who, sending_);
        put(who);
        return true;
      case step::kind::receive:
        if (messages_.size() <= promised_) return wait_in(who, receiving_);
        get(who);
        return true;
      case step::kind::notify_one:
        if (notify_line_.empty())
          remembered_ = true;
        else
          grant(notify_line_);
        break;
      case step::kind::notify_all:
        while (!notify_line_.empty()) grant(notify_line_);
        break;
      case step::kind::wait:
        if (!std::exchange(remembered_, false)) return wait_in(who, notify_line_);
        done(who, "w");
        return true;
      case step::kind::set:
        set_ = true;
        while (!event_line_.empty()) grant(event_line_);
        break;
      case step::kind::reset:
        set_ = false;
        break;
      case step::kind::wait_event:
        if (!set_) return wait_in(who, event_line_);
        done(who, "v");
        return true;
      case step::kind::yield:
        done(who, "y");
        if (task.stop) {
          end(who, "x");
          return false;
        }
        task.yielded = true;
        ready_.push_back(who);
        return false;
    }
    done(who, ".");
    return true;
  }

  std::vector<one_task> tasks_;
  std::deque<std::size_t> ready_;
  std::string log_;
  bool locked_ = false;
  line mutex_line_;
  std::size_t permits_ = model_permits;
  line permit_line_;
  std::deque<std::size_t> messages_;
  std::size_t promised_ = 0;
  std::size_t reserved_ = 0;
  line sending_;
  line receiving_;
  bool remembered_ = false;
  line notify_line_;
  bool set_ = false;
  line event_line_;
};

}  // namespace skua_test

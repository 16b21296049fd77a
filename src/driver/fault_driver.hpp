// src/driver/fault_driver.hpp: a driver in front of another, in which operations go wrong.
#pragma once

#include "driver/driver.hpp"
#include "driver/fault_rule.hpp"
#include "skua/base/clock.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace skua::inline SKUA_ABI {

/// What goes wrong still goes through the real driver, so that it is timed out, cancelled and
/// handed over as anything else: a *substitute* with a changed request is submitted in its place,
/// and what comes of that is given to the original.
class fault_driver final : public driver {
public:
  /// `plan` and `time` outlive the driver.
  fault_driver(std::unique_ptr<driver> real, fault_plan& plan, const clock& time) noexcept;
  ~fault_driver() override;

  void take_over() noexcept override { real_->take_over(); }
  void poll() noexcept override { real_->poll(); }
  void look(std::size_t room) noexcept override { real_->look(room); }
  bool glance(std::size_t room) noexcept override { return real_->glance(room); }
  bool park(std::size_t room) noexcept override { return real_->park(room); }
  bool wake() noexcept override { return real_->wake(); }
  void set_alarm(std::int64_t nanoseconds) noexcept override { real_->set_alarm(nanoseconds); }
  void add(timer& item) noexcept override { real_->add(item); }
  void add_after(timer& item, std::int64_t nanoseconds) noexcept override {
    real_->add_after(item, nanoseconds);
  }
  bool remove(timer& item) noexcept override { return real_->remove(item); }
  std::int64_t next_deadline() noexcept override { return real_->next_deadline(); }
  void submit(operation& op) noexcept override;
  bool cancel(operation& op) noexcept override;

private:
  struct substitute;
  struct bystander;

  void crowd(std::size_t count) noexcept;
  [[nodiscard]] std::unique_ptr<substitute> take(operation& original) noexcept;

  const std::unique_ptr<driver> real_;
  fault_plan& plan_;
  const clock& time_;
  std::mutex mutex_;
  std::unordered_map<operation*, std::unique_ptr<substitute>> substitutes_;  // under the mutex
  std::atomic<std::size_t> bystanders_{0};
};

}  // namespace skua::inline SKUA_ABI

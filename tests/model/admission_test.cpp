// tests/model/admission_test.cpp: enter against close: nobody is overlooked inside.
#include "sched/admission.hpp"

#include "model/atomic.hpp"
#include "model/explorer.hpp"
#include "model/mutation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace {

using skua_model::bound;
using skua_model::explorer;
using skua_model::plain;
using admission = skua::admission<skua_model::atomics>;
using side = skua_model::order_mutant::side;

/// A runtime that guests use and that is torn down once it is closed and empty.
struct house {
  admission gate;
  std::array<plain<int>, 2> rooms;  // one for each guest
  plain<int> reason;                // why it was closed
  bool torn_down = false;           // the explorer's own

  void visit(std::size_t guest) {
    if (gate.enter()) {
      explorer::expect(!torn_down, "nobody is admitted to a house that is torn down");
      rooms[guest].write(1);
      explorer::current().step();  // while others go on
      explorer::expect(!torn_down, "the house stands while somebody is inside");
    } else {
      explorer::expect(reason.read() == 5, "the reason is there for whoever is refused");
    }
    gate.leave();
  }
  void close() {
    reason.write(5);
    explorer::expect(gate.close(), "closed by one");
    if (!gate.empty()) return;
    torn_down = true;
    for (plain<int>& room : rooms) room.write(0);
  }
};

void two_guests() {
  house one;
  explorer::run({[&] { one.visit(0); }, [&] { one.visit(1); }, [&] { one.close(); }});
  explorer::expect(one.gate.empty() && one.gate.closed(), "all have left");
}

void a_guest_that_comes_back() {
  house one;
  explorer::run({[&] {
                   one.visit(0);
                   one.visit(0);
                 },
                 [&] { one.close(); }});
}

void who_sees_it_closed() {
  house one;
  explorer::run({[&] { one.close(); },
                 [&] {
                   if (one.gate.closed()) explorer::expect(one.reason.read() == 5, "the reason");
                 }});
}

void two_closers() {
  admission gate;
  int first = 0;
  auto close = [&] { first += gate.close() ? 1 : 0; };
  explorer::run({close, close, [&] {
                   (void)gate.enter();
                   gate.leave();
                 }});
  explorer::expect(first == 1, "one is the first");
  explorer::expect(gate.empty(), "the guest has left");
}

TEST(admission_model, nobody_is_inside_when_it_is_torn_down) {
  skua_model::expect_clean("two guests", bound(3), two_guests);
  skua_model::expect_clean("a guest that comes back", bound(3), a_guest_that_comes_back);
  skua_model::expect_clean("who sees it closed", bound(3), who_sees_it_closed);
  skua_model::expect_clean("two closers", bound(3), two_closers);
}

TEST(admission_model, every_order_is_needed) {
  using skua_model::expect_killed;
  expect_killed({"::enter(", side::acquire}, bound(2), two_guests);
  expect_killed({"::leave(", side::release}, bound(2), two_guests);
  expect_killed({"::close(", side::release}, bound(2), two_guests);
  expect_killed({"::empty(", side::acquire}, bound(2), two_guests);
  expect_killed({"::closed(", side::acquire}, bound(2), who_sees_it_closed);
}

TEST(admission_model, deeper) {
  skua_model::expect_clean_as_far_as(4, {{"two guests", two_guests}});
}

}  // namespace

// tools/skua/bench.cpp: skua bench: measures skua on this machine.
#include "bench.hpp"

#include "failure.hpp"
#include "micro.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <skua/time/instant.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace skua_tool {
namespace {

constexpr std::uint64_t times_most = std::uint64_t{1} << 32;

/// Nanoseconds for each time.
struct measured {
  const micro* of = nullptr;
  std::uint64_t times = 0;  // in a round
  std::vector<double> rounds;

  /// The share `q` of the rounds took no longer.
  [[nodiscard]] double at(double q) const {
    return rounds[static_cast<std::size_t>(
        std::lround(q * static_cast<double>(rounds.size() - 1)))];
  }
  /// Of the half of the rounds in the middle, by the median.
  [[nodiscard]] double spread() const { return at(0.5) > 0 ? (at(0.75) - at(0.25)) / at(0.5) : 0; }
};

skua::task<double> time_of(const micro& what, std::uint64_t times) {
  const skua::instant begun = skua::now();
  co_await what.run(times);
  co_return static_cast<double>((skua::now() - begun).count());
}

/// How often it is done in a round, so that a round is long enough.
std::uint64_t times_for(skua::runtime& here, const micro& what, double nanoseconds) {
  std::uint64_t times = 1;
  for (;;) {
    const double took = here.block_on(time_of(what, times));
    if (took >= nanoseconds || times >= times_most) return times;
    const double factor = std::clamp(1.2 * nanoseconds / std::max(took, 1.0), 1.5, 10.0);
    times = static_cast<std::uint64_t>(static_cast<double>(times) * factor) + 1;
  }
}

measured measure(skua::runtime& here, const micro& what, const bench_settings& how) {
  measured all;
  all.of = &what;
  all.times = times_for(here, what, how.round_seconds * 1e9);
  for (std::size_t i = 0; i < how.rounds; ++i)
    all.rounds.push_back(here.block_on(time_of(what, all.times)) / static_cast<double>(all.times));
  std::ranges::sort(all.rounds);
  return all;
}

std::vector<const micro*> chosen(const std::vector<std::string>& names) {
  std::vector<const micro*> found;
  for (const std::string& name : names) {
    const auto has_it = [&](const micro& one) {
      return std::string_view(one.name).find(name) != std::string_view::npos;
    };
    if (std::ranges::none_of(all_micros(), has_it))
      throw failure("no benchmark has '" + name + "' in its name; skua bench --list tells them");
  }
  for (const micro& one : all_micros())
    if (names.empty() || std::ranges::any_of(names, [&](const std::string& name) {
          return std::string_view(one.name).find(name) != std::string_view::npos;
        }))
      found.push_back(&one);
  return found;
}

void print_list(const std::vector<const micro*>& which, bool as_json) {
  json out;
  out.field("command", "bench").begin_array("benchmarks");
  table rows({table::side::left, table::side::left});
  for (const micro* one : which) {
    rows.add({one->name, one->what});
    out.begin_object().field("name", one->name).field("what", one->what).end();
  }
  out.end();
  print(as_json ? out.text() + "\n" : rows.text());
}

void put_result(json& out, const measured& one) {
  out.begin_object()
      .field("name", one.of->name)
      .field("what", one.of->what)
      .field("times", one.times)
      .field("rounds", one.rounds.size())
      .field("median_ns", one.at(0.5))
      .field("min_ns", one.rounds.front())
      .field("max_ns", one.rounds.back())
      .field("spread", one.spread())
      .end();
}

void add_result(table& rows, const measured& one) {
  rows.add({one.of->name, time_text(one.at(0.5)), short_number(100 * one.spread()) + " %",
            time_text(one.rounds.front()), time_text(one.rounds.back()), with_commas(one.times)});
}

}  // namespace

int run_bench(const bench_settings& how) {
  const auto which = chosen(how.names);
  if (how.list) {
    print_list(which, how.json);
    return 0;
  }
  skua::runtime here = start_runtime(how.runtime);
  using enum table::side;
  table rows({left, right, right, right, right, right});
  rows.add({"benchmark", "median", "spread", "min", "max", "in a round"});
  json out;
  out.field("command", "bench");
  put_runtime(out, how.runtime, here.get_handle());
  out.begin_array("benchmarks");
  progress_line line(!how.json && terminal::of_stdout().interactive);
  for (const micro* one : which) {
    line.show("  " + std::string(one->name) + " ...");
    const measured result = measure(here, *one, how);
    put_result(out, result);
    add_result(rows, result);
  }
  out.end();
  line.clear();
  if (how.json)
    print(out.text() + "\n");
  else
    print("skua bench: " + describe(how.runtime, here.get_handle()) + ", " +
          with_commas(how.rounds) + " rounds each\n" + rows.text());
  return 0;
}

}  // namespace skua_tool

// tools/skua/load_report.cpp: what a load came to, for people and for programs.
#include "load_generator.hpp"

namespace skua_tool {
namespace {

struct named_quantile {
  const char* name;
  double q;
};
constexpr named_quantile quantiles[] = {
    {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}};

std::string at(const load_report& seen, double q) {
  return time_text(static_cast<double>(seen.answers.quantile(q)));
}

}  // namespace

std::string progress_text(const load_report& seen) {
  return short_number(seen.rate()) + "/s  p50 " + at(seen, 0.5) + "  p99 " + at(seen, 0.99);
}

void add_rows(table& to, const load_plan& plan, const load_report& seen) {
  const double bytes = seen.rate() * static_cast<double>(plan.size);
  to.add({"connections", with_commas(plan.connections)});
  to.add({"messages", with_commas(seen.answered()) + " of " +
                          size_text(static_cast<double>(plan.size)) + " in " +
                          time_text(seen.seconds * 1e9)});
  to.add({"throughput", short_number(seen.rate()) + "/s, " + size_text(bytes) + "/s each way"});
  std::string times;
  for (const named_quantile& one : quantiles)
    times += std::string(one.name) + " " + at(seen, one.q) + ", ";
  to.add({"latency", times + "max " + time_text(static_cast<double>(seen.answers.largest))});
  if (seen.unsent > 0) to.add({"unsent", with_commas(seen.unsent) + ", due before the end"});
  if (seen.unanswered > 0) to.add({"unanswered", with_commas(seen.unanswered)});
  if (seen.broken > 0)
    to.add({"broken", with_commas(seen.broken) +
                          (seen.broken == 1 ? " connection: " : " connections: ") +
                          seen.first_error});
}

void put_load(json& out, const load_plan& plan, const load_report& seen) {
  out.begin_object("load")
      .field("loop", plan.rate > 0 ? "open" : "closed")
      .field("connections", plan.connections)
      .field("size", plan.size);
  if (plan.rate > 0)
    out.field("rate_wanted", plan.rate);
  else
    out.field("depth", plan.depth);
  out.field("seconds", seen.seconds)
      .field("sent", seen.sent)
      .field("answered", seen.answered())
      .field("unanswered", seen.unanswered)
      .field("unsent", seen.unsent)
      .field("broken_connections", seen.broken);
  if (seen.broken > 0) out.field("first_error", seen.first_error);
  out.field("messages_per_second", seen.rate());
  out.begin_object("latency_ns").field("mean", seen.answers.mean());
  for (const named_quantile& one : quantiles) out.field(one.name, seen.answers.quantile(one.q));
  out.field("max", seen.answers.largest).end();
  out.end();
}

}  // namespace skua_tool

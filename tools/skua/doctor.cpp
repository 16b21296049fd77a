// tools/skua/doctor.cpp: skua doctor: what this machine offers, and what will be short.
#include "doctor.hpp"

#include "build_facts.hpp"
#include "json.hpp"
#include "machine.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <string>

namespace skua_tool {
namespace {

constexpr std::size_t label_width = 14;
constexpr std::size_t operations_in_a_row = 4;

std::string labelled(std::string label, std::string_view what) {
  label.resize(label_width, ' ');
  return "  " + label + wrapped(what, label_width + 2, label_width + 2) + "\n";
}

std::string limit_text(const resource_limit& limit, std::string (*number)(std::uint64_t)) {
  std::string soft = limit.soft.has_value() ? number(*limit.soft) : "no limit";
  if (limit.soft == limit.hard) return soft;
  return soft + ", at most " + (limit.hard.has_value() ? number(*limit.hard) : "as one likes");
}

std::string bytes_text(std::uint64_t bytes) {
  return size_text(static_cast<double>(bytes));
}

std::string uring_text(const machine_facts& facts) {
  if (!facts.uring_works) return "does not work: " + facts.uring_reason;
  return "works, with rings of " + std::to_string(facts.rings.submission_entries) + " and " +
         std::to_string(facts.rings.completion_entries) + " entries";
}

std::string driver_text(const machine_facts& facts) {
  if (!facts.taken_error.empty()) return "none: " + facts.taken_error;
  return std::string(name_of(facts.taken.used)) + ": " + std::string(facts.taken.reason());
}

std::string built_text() {
  std::string text =
      "skua " + std::string(build_facts::version) + ", " + std::string(build_facts::compiler);
  for (const std::string_view part : {build_facts::build_type, build_facts::sanitizers})
    if (!part.empty()) text += ", " + std::string(part);
  return text;
}

std::string operations_text(const machine_facts& facts) {
  table rows(std::vector(operations_in_a_row, table::side::left));
  std::vector<std::string> row;
  for (const ring_operation& one : facts.operations) {
    row.push_back((one.known ? "yes " : "no  ") + std::string(one.name));
    if (row.size() < operations_in_a_row) continue;
    rows.add(std::move(row));
    row.clear();
  }
  if (!row.empty()) {
    row.resize(operations_in_a_row);
    rows.add(std::move(row));
  }
  return rows.text();
}

void print_findings(const machine_facts& facts) {
  std::string text = "skua doctor\n";
  text += labelled("kernel", facts.kernel);
  text += labelled("io_uring", uring_text(facts));
  if (facts.uring_works)
    text += labelled("", facts.rings_of_one_thread
                             ? "thread_per_core: rings of one thread each"
                             : "thread_per_core: no rings of one thread; needs Linux 6.1");
  text += labelled("driver", driver_text(facts));
  text += labelled("workers", std::to_string(facts.workers) + ", on " + std::to_string(facts.cpus) +
                                  " CPUs, of which " + std::to_string(facts.workers_granted) +
                                  " are granted");
  text += labelled("open files", limit_text(facts.open_files, with_commas));
  text += labelled("locked memory", limit_text(facts.locked_memory, bytes_text));
  text += labelled("built with", built_text());
  text += "\nWhat a ring does by itself; threads of the pool do the rest:\n";
  text += operations_text(facts);
  for (const std::string& one : facts.warnings) text += "\n" + wrapped(one, 0, 0) + "\n";
  print(text);
}

void put_limit(json& out, std::string_view name, const resource_limit& limit) {
  out.begin_object(name);
  for (const auto& [key, value] : {std::pair("soft", limit.soft), std::pair("hard", limit.hard)})
    value.has_value() ? out.field(key, *value) : out.null(key);
  out.end();
}

void put_uring(json& out, const machine_facts& facts) {
  out.begin_object("io_uring").field("works", facts.uring_works);
  facts.uring_works ? out.null("reason") : out.field("reason", facts.uring_reason);
  out.field("submission_entries", facts.rings.submission_entries)
      .field("completion_entries", facts.rings.completion_entries)
      .field("rings_of_one_thread", facts.rings_of_one_thread);
  out.begin_object("operations");
  for (const ring_operation& one : facts.operations) out.field(one.name, one.known);
  out.end().end();
}

void put_driver(json& out, const machine_facts& facts) {
  out.begin_object("driver");
  if (facts.taken_error.empty())
    out.field("used", name_of(facts.taken.used))
        .field("fell_back", facts.taken.fell_back)
        .field("reason", facts.taken.reason());
  else
    out.null("used").field("fell_back", false).field("reason", facts.taken_error);
  out.end();
}

void print_findings_as_json(const machine_facts& facts) {
  json out;
  out.field("command", "doctor").field("kernel", facts.kernel);
  put_uring(out, facts);
  put_driver(out, facts);
  out.begin_object("cpus")
      .field("by_affinity", facts.cpus)
      .field("granted", facts.workers_granted)
      .field("workers", facts.workers)
      .end();
  out.begin_object("limits");
  put_limit(out, "memlock", facts.locked_memory);
  put_limit(out, "nofile", facts.open_files);
  out.end();
  out.begin_object("built_with")
      .field("version", build_facts::version)
      .field("compiler", build_facts::compiler)
      .field("build_type", build_facts::build_type)
      .field("sanitizers", build_facts::sanitizers)
      .end();
  out.begin_array("warnings");
  for (const std::string& one : facts.warnings) out.element(one);
  out.end();
  print(out.text() + "\n");
}

}  // namespace

int run_doctor(const doctor_settings& how) {
  const machine_facts facts = examine_machine(how.workers);
  if (how.json)
    print_findings_as_json(facts);
  else
    print_findings(facts);
  return facts.uring_works ? 0 : 1;
}

}  // namespace skua_tool

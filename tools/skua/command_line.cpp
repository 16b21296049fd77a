// tools/skua/command_line.cpp: reads the command line, and runs the command that it names.
#include "command_line.hpp"

#include "bench.hpp"
#include "build_facts.hpp"
#include "demo.hpp"
#include "doctor.hpp"
#include "echo.hpp"
#include "failure.hpp"
#include "load.hpp"
#include "terminal.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

namespace skua_tool {
namespace {

constexpr std::uint64_t workers_most = 1'024;
constexpr std::uint64_t connections_most = 1'000'000;
constexpr std::uint64_t size_most = std::uint64_t{1} << 26;
constexpr double seconds_most = 1'000'000;

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  auto fault = [least, most](const std::string& text) -> std::string {
    const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    if (digits && text.size() < 19) {
      const std::uint64_t number = std::stoull(text);
      if (number >= least && number <= most) return {};
    }
    return "'" + text + "' is no whole number from " + std::to_string(least) + " to " +
           std::to_string(most);
  };
  return {fault, ""};
}

std::string plain(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", value);
  return text.data();
}

CLI::Validator number(double least, double most) {
  auto fault = [least, most](const std::string& text) -> std::string {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= least && value <= most) return {};
    return "'" + text + "' is no number from " + plain(least) + " to " + plain(most);
  };
  return {fault, ""};
}

void add_workers(CLI::App& to, std::size_t& workers) {
  to.add_option("--workers", workers, "worker threads; one for each CPU unless given")
      ->check(whole_number(1, workers_most))
      ->type_name("N");
}

void add_runtime(CLI::App& to, runtime_flags& flags) {
  add_workers(to, flags.workers);
  to.add_option("--flavour", flags.flavour, "multi_thread, current_thread or thread_per_core")
      ->check(CLI::IsMember({"multi_thread", "current_thread", "thread_per_core"}).description(""))
      ->type_name("NAME");
  to.add_option("--backend", flags.backend, "auto, uring or epoll")
      ->check(CLI::IsMember({"auto", "uring", "epoll"}).description(""))
      ->type_name("NAME");
}

void add_json(CLI::App& to, bool& json) {
  to.add_flag("--json", json, "JSON instead of text");
}

void add_seconds(CLI::App& to, const std::string& name, double& seconds, const std::string& what) {
  to.add_option(name, seconds, what)
      ->check(number(0, seconds_most))
      ->type_name("S")
      ->capture_default_str();
}

void add_whole(CLI::App& to, const std::string& name, std::size_t& value, std::uint64_t most,
               const std::string& what) {
  to.add_option(name, value, what)
      ->check(whole_number(1, most))
      ->type_name("N")
      ->capture_default_str();
}

void add_demo(CLI::App& to, demo_settings& how) {
  how.load.connections = 64;
  add_runtime(to, how.runtime);
  add_whole(to, "--connections", how.load.connections, connections_most, "clients at a time");
  add_seconds(to, "--seconds", how.seconds, "how long");
  add_json(to, how.json);
}

void add_doctor(CLI::App& to, doctor_settings& how) {
  add_workers(to, how.workers);
  add_json(to, how.json);
}

void add_echo(CLI::App& to, echo_settings& how) {
  to.add_option("--listen", how.listen, "address and port; port 0: any that is free")
      ->type_name("ADDRESS")
      ->capture_default_str();
  add_whole(to, "--max-connections", how.max_connections, connections_most,
            "so many at a time; others wait");
  add_seconds(to, "--idle", how.idle_seconds, "a connection this quiet is closed");
  add_seconds(to, "--drain", how.drain_seconds, "for those still open at the end");
  add_runtime(to, how.runtime);
  add_json(to, how.json);
}

void add_load(CLI::App& to, load_settings& how) {
  to.add_option("target", how.target, "127.0.0.1:7000, [::1]:7000 or name:7000")
      ->required()
      ->type_name("ADDRESS");
  add_whole(to, "--connections", how.load.connections, connections_most, "at a time");
  add_whole(to, "--depth", how.load.depth, 65'536, "messages under way on each");
  to.add_option("--rate", how.load.rate,
                "messages a second on all; latencies then\n"
                "count from when each was to be sent")
      ->check(number(0.01, 1e9))
      ->type_name("R");
  add_whole(to, "--size", how.load.size, size_most, "bytes of a message");
  add_seconds(to, "--seconds", how.seconds, "how long");
  add_runtime(to, how.runtime);
  add_json(to, how.json);
}

void add_bench(CLI::App& to, bench_settings& how) {
  to.add_option("names", how.names, "those with this in their name; all unless given")
      ->type_name("NAME");
  to.add_flag("--list", how.list, "only their names");
  add_whole(to, "--rounds", how.rounds, 10'000, "measurements of each");
  add_seconds(to, "--round-seconds", how.round_seconds, "how long each takes, about");
  add_runtime(to, how.runtime);
  add_json(to, how.json);
}

/// Everything that a command line can say.
struct commands {
  CLI::App app{"An asynchronous runtime for C++23 on Linux: try it, and measure it.", "skua"};
  demo_settings demo;
  doctor_settings doctor;
  echo_settings echo;
  load_settings load;
  bench_settings bench;

  commands() {
    app.require_subcommand(1);
    app.set_version_flag("--version", "skua " + std::string(build_facts::version));
    add_demo(*app.add_subcommand("demo", "An echo service and its clients in one process"), demo);
    add_doctor(*app.add_subcommand("doctor", "What this machine offers to a runtime"), doctor);
    add_echo(*app.add_subcommand("echo", "An echo server, until SIGINT or SIGTERM"), echo);
    add_load(*app.add_subcommand("load", "Asks an echo server, and measures its answers"), load);
    add_bench(*app.add_subcommand("bench", "Measures skua itself"), bench);
    app.footer(
        "Exit codes: 0; 1 if io_uring does not work (doctor), a connection broke (demo,\n"
        "load) or nothing was answered (load); 2, and a line that says why, if a command\n"
        "cannot do what was asked for.");
  }

  [[nodiscard]] int run() const {
    if (app.got_subcommand("demo")) return run_demo(demo);
    if (app.got_subcommand("doctor")) return run_doctor(doctor);
    if (app.got_subcommand("echo")) return run_echo(echo);
    if (app.got_subcommand("bench")) return run_bench(bench);
    const CLI::App* const asked = app.get_subcommand("load");
    if (asked->count("--rate") > 0 && asked->count("--depth") > 0)
      throw failure("load: --depth is for a closed loop, --rate for an open one");
    return run_load(load);
  }

  /// `load: `, once it is known which was meant.
  [[nodiscard]] std::string name_of_command() const {
    const auto named = app.get_subcommands();
    return named.empty() ? "" : named.front()->get_name() + ": ";
  }
};

// CLI11 itself would only say that a subcommand is required.
void refuse_unknown_command(const CLI::App& app, int count, const char* const* arguments) {
  if (count < 2) throw failure("which command? (skua --help lists them)");
  const std::string first = arguments[1];
  const auto named = [&](const CLI::App* one) { return one->get_name() == first; };
  const bool is_flag = first.starts_with('-');
  if (is_flag ? app.get_option_no_throw(first) == nullptr : app.get_subcommands(named).empty())
    throw failure("there is no " + std::string(is_flag ? "flag" : "command") + " '" + first +
                  "' (skua --help lists them)");
}

std::string on_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

int run_command_line(int count, const char* const* arguments) {
  commands all;
  refuse_unknown_command(all.app, count, arguments);
  try {
    all.app.parse(count, arguments);
  } catch (const CLI::CallForHelp&) {
    print(all.app.help());
    return 0;
  } catch (const CLI::CallForVersion& asked) {
    print(std::string(asked.what()) + "\n");
    return 0;
  } catch (const CLI::ParseError& wrong) {
    throw failure(all.name_of_command() + on_one_line(wrong.what()));
  }
  return all.run();
}

}  // namespace skua_tool

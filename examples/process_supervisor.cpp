// examples/process_supervisor.cpp: keeps programs running, and ends them in good order on SIGTERM.
//
//   process_supervisor 'program one' 'program two' ...
//
// Each line is run by the shell, and again when it has ended, after a pause that grows from 100 ms
// to 10 s while it keeps ending soon. SIGTERM or Ctrl-C: every program gets SIGTERM and five
// seconds, then SIGKILL; a second signal does not wait. Without arguments it tests itself.
#include <skua/skua.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace process = skua::process;

constexpr auto grace = 5s;

/// One that keeps failing, one that runs on, and one that ends it all after a while.
const std::vector<std::string> self_test = {"exit 3", "exec sleep 1000",
                                            "sleep 0.5; kill -TERM $PPID; exec sleep 1000"};

/// False if the supervisor is to end first; the program runs on then.
skua::task<bool> ended_by_itself(process::child& one, const std::string& line,
                                 skua::cancel_token ends) {
  const auto end = co_await ends.guard(one.wait());
  if (!end) co_return false;
  std::printf("%s: %s\n", line.c_str(), end->to_string().c_str());
  co_return true;
}

/// Asks first. Dropping the child does the rest, for its whole group.
skua::task<> end_gracefully(process::child one) {
  static_cast<void>(one.signal_group(SIGTERM));
  const auto end = co_await skua::timeout(grace, one.wait());
  std::printf("%d: %s\n", static_cast<int>(one.id()),
              end ? end->to_string().c_str() : "did not end; killed");
}

skua::task<> keep_running(std::string line, skua::cancel_token ends) {
  skua::backoff pauses(skua::retry_options().first_pause(100ms).longest_pause(10s));
  while (!ends.is_cancelled()) {
    const auto begun = skua::now();
    auto command = process::command("/bin/sh");
    auto made = co_await command.arg("-c").arg(line).in(process::stdio::null()).new_group().spawn();
    if (!made) {
      std::printf("%s: %s\n", line.c_str(), made.error().message().c_str());
    } else if (!co_await ended_by_itself(*made, line, ends)) {
      co_await end_gracefully(std::move(*made));
      break;
    }
    if (skua::now() - begun > 10s) pauses.reset();
    static_cast<void>(co_await ends.guard(skua::sleep(pauses.next())));
  }
}

skua::task<> supervise(skua::cancel_token ends, std::vector<std::string> lines) {
  auto start_all = [&](skua::scope& children) -> skua::task<> {
    for (const std::string& line : lines) children.spawn(keep_running(line, ends));
    co_return;
  };
  co_await skua::with_scope(start_all);
}

skua::task<int> amain(std::vector<std::string> lines) {
  const auto end = co_await skua::run_until_shutdown(2 * grace, supervise, std::move(lines));
  std::puts(end ? "all programs have ended" : end.error().message().c_str());
  co_return end ? 0 : 1;
}

/// Whoever started this may block SIGTERM, which is inherited.
void hear_of_the_end() {
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  pthread_sigmask(SIG_UNBLOCK, &end, nullptr);
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<std::string> lines(arguments + 1, arguments + count);
  if (lines.empty()) {
    lines = self_test;
    hear_of_the_end();
  }
  return skua::run(amain(std::move(lines)));
}

// examples/guide/from_tokio.cpp: the code of docs/guide/from-tokio.md.
#include <skua/skua.hpp>

#include <chrono>
#include <string>
#include <utility>

namespace {

using namespace std::chrono_literals;

// [snippet: question-mark]
// async fn size(path) -> io::Result<usize> { let text = fs::read_to_string(path).await?; ... }
skua::task<skua::result<std::size_t>> size(std::string path) {
  const std::string text = co_await skua::or_return(co_await skua::fs::read_text(path));
  co_return text.size();
}
// [end]

// [snippet: select]
// tokio::select! { job = rx.recv() => ..., _ = tick.tick() => ... }
skua::task<int> next_job(skua::mpsc::receiver<int>& jobs, skua::interval& tick) {
  for (;;) {
    auto event = co_await skua::select(jobs.receive(), tick.next());
    if (const auto* job = event.get<0>()) co_return job->value_or(0);
    // a tick: go round again. The receive that was not selected has taken nothing.
  }
}
// [end]

skua::task<int> amain() {
  const auto bytes = co_await size("/etc/passwd");
  auto [tx, rx] = skua::mpsc::channel<int>(4);
  skua::interval tick(1h);
  (void)co_await tx.send(7);
  const int job = co_await next_job(rx, tick);
  co_return bytes.has_value() && *bytes > 0 && job == 7 ? 0 : 1;
}

}  // namespace

int main() {
  return skua::run(amain());
}

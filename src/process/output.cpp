// src/process/output.cpp: read two pipes and write to a third, all at once.
#include "skua/process/output.hpp"

#include "skua/base/error.hpp"
#include "skua/coro/when_all.hpp"
#include "skua/process/command.hpp"
#include "skua/sync/cancel_source.hpp"
#include "skua/time/timeout.hpp"

#include <algorithm>
#include <csignal>
#include <span>
#include <system_error>
#include <vector>

namespace skua::inline SKUA_ABI::process {
namespace {

constexpr std::size_t read_at_once = 65'536;

/// What the three have in common. The first that fails calls the others off.
class gathering {
public:
  explicit gathering(const output_options& with) noexcept : with_(with) {}

  [[nodiscard]] cancel_token called_off() const noexcept { return off_.token(); }
  [[nodiscard]] const std::error_code& error() const noexcept { return error_; }
  [[nodiscard]] bool cut_short() const noexcept { return cut_short_; }

  task<> read(std::optional<io::pipe_reader>& from, std::string& into) {
    if (!from.has_value()) co_return;
    std::vector<std::byte> room(read_at_once);
    for (;;) {
      const result<std::size_t> got = co_await from->read(room);
      if (!got.has_value()) co_return call_off(got.error());
      if (*got == 0) co_return;
      if (!keep(std::span(room).first(*got), into)) co_return call_off(errc::limit_exceeded);
    }
  }

  task<> write(std::optional<io::pipe_writer>& to) const {
    const auto& input = with_.input();
    if (to.has_value() && input.has_value()) {
      // An error: nobody reads that far, which is the program's business.
      static_cast<void>(co_await to->write_all(std::as_bytes(std::span(*input))));
    }
    to.reset();
  }

private:
  void call_off(std::error_code why) noexcept {
    if (off_.cancel()) error_ = why;
  }

  bool keep(std::span<const std::byte> bytes, std::string& into) {
    const std::size_t room = std::min(bytes.size(), with_.limit() - into.size());
    into.append(reinterpret_cast<const char*>(bytes.data()), room);
    if (room == bytes.size()) return true;
    cut_short_ = true;
    return with_.cuts();
  }

  const output_options& with_;
  cancel_source off_;
  std::error_code error_;
  bool cut_short_ = false;
};

task<result<output>> gather(child& from, gathering& with) {
  std::string out;
  std::string err;
  co_await when_all(with.read(from.out(), out), with.read(from.err(), err), with.write(from.in()));
  const result<exit_status> end = co_await from.wait();
  if (!end.has_value()) co_return fail(end.error());
  output all(*end);
  all.out = std::move(out);
  all.err = std::move(err);
  all.cut_short = with.cut_short();
  co_return all;
}

/// Of a program that is to end now, also if it has left its group.
task<> end(child& whom) {
  static_cast<void>(whom.signal_group(SIGKILL));
  static_cast<void>(whom.kill());
  static_cast<void>(co_await whom.wait());
}

}  // namespace

task<result<output>> command::output(output_options with) {
  const auto in = with.input().has_value() ? stdio::kind::pipe : stdio::kind::null;
  result<child> made = co_await spawn_with(in, stdio::kind::pipe);
  if (!made.has_value()) co_return fail(made.error());
  gathering all(with);
  const time_span most = with.timeout().value_or(time_span::longest());
  result<process::output> got = co_await timeout(most, all.called_off().guard(gather(*made, all)));
  if (got.has_value()) co_return got;
  co_await end(*made);
  if (all.error()) co_return fail(all.error());
  co_return got;
}

}  // namespace skua::inline SKUA_ABI::process

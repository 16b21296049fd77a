// src/net/accept_patience.cpp: which errors are whose, and how long to wait.
#include "skua/net/accept_patience.hpp"

#include "net/runtime_log.hpp"
#include "skua/net/serve_counters.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

namespace skua::inline SKUA_ABI::net {
namespace {

constexpr std::int64_t first_pause = 10'000'000;
constexpr std::int64_t longest_pause = 100'000'000;
constexpr std::int64_t between_lines = 10'000'000'000;
constexpr std::uint32_t at_once = 16;

// As accept(2) lists them: the connection was gone before it was taken. EPERM: a firewall's rule.
constexpr std::array of_the_connection = {ECONNABORTED, EPROTO,     ENETDOWN,     ENOPROTOOPT,
                                          EHOSTDOWN,    ENONET,     EHOSTUNREACH, ENETUNREACH,
                                          ETIMEDOUT,    ECONNRESET, EPERM,        EINTR};
constexpr std::array of_the_process = {EMFILE, ENFILE, ENOMEM, ENOBUFS, EAGAIN};

template <std::size_t size>
bool is_one_of(const std::error_code& why, const std::array<int, size>& numbers) noexcept {
  return why.category() == std::generic_category() &&
         std::ranges::find(numbers, why.value()) != numbers.end();
}

}  // namespace

accept_patience::advice accept_patience::after(const std::error_code& why) noexcept {
  if (is_one_of(why, of_the_process)) return advise_pause(why);
  if (!is_one_of(why, of_the_connection)) return advice::give_up;
  return ++in_a_row_ > at_once ? advise_pause(why) : advice::again;
}

accept_patience::advice accept_patience::advise_pause(const std::error_code& why) noexcept {
  pause_ = std::clamp(2 * pause_, first_pause, longest_pause);
  ++pauses_;
  ++unsaid_;
  // order: [serve.counted] release; with value_of() of serve_state.cpp.
  if (total_ != nullptr) total_->pauses_.fetch_add(1, std::memory_order_release);
  if (const instant here = now(); here >= silent_until_) {
    log_here().warn("a listener cannot accept, and pauses",
                    {{"error", why.value()}, {"pauses", unsaid_}});
    silent_until_ = here + time_span::of_nanoseconds(between_lines);
    unsaid_ = 0;
  }
  return advice::pause;
}

}  // namespace skua::inline SKUA_ABI::net

// tests/io/buffered_test.cpp: what stands between a stream and its user neither adds nor loses.
#include "io/gated.hpp"
#include "skua/skua.hpp"
#include "support/driven.hpp"
#include "support/errors.hpp"
#include "support/manual_executor.hpp"
#include "support/pipes.hpp"
#include "support/runtimes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace io = skua::io;
using skua::errc;
using skua::result;
using skua::sync_wait;
using skua::task;
using skua_test::bytes_of;
using skua_test::driven;
using skua_test::error_of;
using skua_test::gate;
using skua_test::gated_reader;
using skua_test::gated_writer;
using skua_test::manual_executor;
using skua_test::text_of;

static_assert(skua::async_reader<io::buffered_reader<gated_reader&>>);
static_assert(skua::async_writer<io::buffered_writer<gated_writer>>);
static_assert(skua::async_reader<io::limited_reader<gated_reader&>>);
static_assert(skua::async_reader<io::tee_reader<gated_reader&, gated_writer&>>);
static_assert(io::over_descriptor<io::descriptor> && !io::over_descriptor<gated_reader>);
static_assert(!skua::async_reader<int> && !skua::async_reader<gated_writer>);

/// One that waits for nothing.
gated_reader reader_of(std::string text, std::size_t piece = 3) {
  gated_reader made(std::move(text), piece);
  made.at.opens_at_start = true;
  return made;
}
gated_writer open_writer(std::size_t piece = 3) {
  gated_writer made(piece);
  made.at.opens_at_start = true;
  return made;
}

/// A text, or the message of an error.
template <typename Bytes>
std::string shown(const result<Bytes>& got) {
  if (!got.has_value()) return got.error().message();
  return text_of(*got);
}
std::string shown(const result<std::optional<skua::frame>>& got) {
  if (!got.has_value()) return got.error().message();
  return got->has_value() ? std::string((*got)->text()) : "the end";
}
std::string message_of(errc error) {
  return make_error_code(error).message();
}

TEST(buffered_reader, gives_what_is_there_before_it_reads_more) {
  auto from = reader_of("abcdefgh", 5);
  io::buffered_reader input(from);
  EXPECT_TRUE(input.buffered().empty());
  EXPECT_EQ(shown(sync_wait(input.fill_buffer())), "abcde");
  EXPECT_EQ(shown(sync_wait(input.fill_buffer())), "abcde");
  input.consume(2);
  EXPECT_EQ(text_of(input.buffered()), "cde");
  std::array<std::byte, 2> small{};
  EXPECT_EQ(sync_wait(input.read(small)), 2U);
  EXPECT_EQ(text_of(small), "cd");
  EXPECT_EQ(shown(sync_wait(input.fill_buffer(4))), "efgh") << "more than one read";
  EXPECT_EQ(shown(sync_wait(input.fill_buffer(5))), "efgh") << "there is no more";
  EXPECT_EQ(sync_wait(input.read({})), 0U);
  input.consume(4);
  EXPECT_EQ(sync_wait(input.read(small)), 0U);
  EXPECT_EQ(sync_wait(input.read(small)), 0U);
}

TEST(buffered_reader, reads_much_past_the_buffer) {
  const std::string much(20'000, 'x');
  auto from = reader_of(much, 100'000);
  io::buffered_reader input(std::move(from));  // which is its own now
  std::vector<std::byte> large(9'000);
  EXPECT_EQ(sync_wait(input.read(large)), 9'000U);
  EXPECT_TRUE(input.buffered().empty());
  EXPECT_EQ(sync_wait(io::read_to_end(input, 20'000)).value().size(), 11'000U);
}

TEST(buffered_reader, changes_the_rule_within_a_stream) {
  auto from = reader_of(std::string("POST\r\nsize: 5\r\n\r\nhello\3abc\0rest", 31), 4);
  io::buffered_reader input(from);
  EXPECT_EQ(shown(sync_wait(input.read_line())), "POST");
  EXPECT_EQ(shown(sync_wait(io::read_until(input, "\r\n\r\n"))), "size: 5");
  auto body = io::limit(input, 5);
  EXPECT_EQ(shown(sync_wait(io::read_to_end(body, 100))), "hello");
  EXPECT_EQ(body.left(), 0U);
  EXPECT_EQ(shown(sync_wait(input.read_frame(skua::framing::length_first(1)))), "abc");
  EXPECT_EQ(shown(sync_wait(io::read_until(input, std::string_view("\0", 1)))), "");
  EXPECT_EQ(shown(sync_wait(io::read_until(input, "\n"))), "rest");
  EXPECT_EQ(shown(sync_wait(io::read_until(input, "\n"))), "the end");
}

TEST(buffered_reader, leaves_what_was_too_long_or_too_short_where_it_is) {
  auto from = reader_of("too long\nab", 2);
  io::buffered_reader input(from);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(shown(sync_wait(input.read_line(5))), message_of(errc::limit_exceeded));
  EXPECT_EQ(shown(sync_wait(input.read_line(8))), "too long");
  std::array<std::byte, 3> three{};
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(error_of(sync_wait(io::read_exactly(input, three))), errc::end_of_stream);
  EXPECT_TRUE(sync_wait(io::read_exactly(input, std::span(three).first(2))).has_value());
  EXPECT_EQ(text_of(std::span(three).first(2)), "ab");
}

TEST(read_exactly, fills_the_room_or_says_that_the_stream_has_ended) {
  auto from = reader_of("abcdefg", 2);
  std::array<std::byte, 5> into{};
  EXPECT_TRUE(sync_wait(io::read_exactly(from, into)).has_value());
  EXPECT_EQ(text_of(into), "abcde");
  EXPECT_TRUE(sync_wait(io::read_exactly(from, {})).has_value());
  EXPECT_EQ(error_of(sync_wait(io::read_exactly(from, into))), errc::end_of_stream);
}

TEST(read_to_end, appends_and_stops_at_the_limit) {
  std::string text = "before ";
  auto whole = reader_of("whole", 2);
  EXPECT_EQ(sync_wait(io::read_to_end(whole, text, 5)), 5U);
  EXPECT_EQ(text, "before whole");
  auto longer = reader_of("longer", 100);
  EXPECT_EQ(error_of(sync_wait(io::read_to_end(longer, text, 3))), errc::limit_exceeded);
  EXPECT_EQ(text, "before wholelong") << "one too many, and not lost";
  EXPECT_EQ(shown(sync_wait(io::read_to_end(longer, 2))), "er");
  const std::string much(100'000, 'y');
  for (const std::size_t piece : {1'000U, 1'000'000U}) {
    auto from = reader_of(much, piece);
    EXPECT_EQ(shown(sync_wait(io::read_to_end(from, std::numeric_limits<std::size_t>::max()))),
              much);
  }
}

TEST(limited_reader, ends_early_and_leaves_the_rest) {
  auto from = reader_of("abcdef", 100);
  auto three = io::limit(from, 3);
  EXPECT_EQ(shown(sync_wait(io::read_to_end(three, 100))), "abc");
  auto many = io::limit(from, 100);
  EXPECT_EQ(shown(sync_wait(io::read_to_end(many, 100))), "def");
  EXPECT_EQ(many.left(), 97U);
}

TEST(tee, gives_two_the_same) {
  auto from = reader_of("the same bytes", 5);
  auto to = open_writer(2);
  auto both = io::tee(from, to);
  EXPECT_EQ(shown(sync_wait(io::read_to_end(both, 100))), "the same bytes");
  EXPECT_EQ(to.taken, "the same bytes");
}

TEST(buffered_writer, collects_what_is_small_and_passes_on_what_is_large) {
  auto to = open_writer(100);
  io::buffered_writer output(to, 4);
  EXPECT_EQ(sync_wait(output.write(bytes_of("ab"))), 2U);
  EXPECT_EQ(sync_wait(output.write(bytes_of("cdef"))), 2U) << "as many as there is room for";
  EXPECT_EQ(to.taken, "");
  EXPECT_EQ(text_of(output.buffered()), "abcd");
  EXPECT_EQ(sync_wait(output.write(bytes_of("e"))), 1U);
  EXPECT_EQ(to.taken, "abcd");
  EXPECT_TRUE(sync_wait(output.flush()).has_value());
  EXPECT_EQ(sync_wait(output.write(bytes_of("much more"))), 9U);
  EXPECT_EQ(to.taken, "abcdemuch more");
  EXPECT_TRUE(sync_wait(output.write_all(bytes_of("end of it"))).has_value());
  EXPECT_TRUE(sync_wait(output.flush()).has_value());
  EXPECT_EQ(to.taken, "abcdemuch moreend of it");
}

TEST(buffered_writer, ends_what_is_behind_it_and_flushes_all_the_way) {
  auto [near, far] = io::duplex(100);
  {
    io::buffered_writer output(io::buffered_writer(std::move(near)), 10);
    EXPECT_TRUE(sync_wait(output.write_all(bytes_of("two buffers"))).has_value());
    EXPECT_TRUE(sync_wait(output.write_all(bytes_of("!"))).has_value());
    EXPECT_TRUE(sync_wait(output.shutdown_write()).has_value());
    EXPECT_EQ(error_of(sync_wait(output.flush())), std::error_code());
  }
  EXPECT_EQ(shown(sync_wait(io::read_to_end(far, 100))), "two buffers!");
}

TEST(buffered_writer, keeps_what_the_writer_refused) {
  auto [near, far] = io::duplex(4);
  io::buffered_writer output(near, 10);
  EXPECT_TRUE(sync_wait(output.write_all(bytes_of("12345"))).has_value());
  {
    const auto gone = std::move(far);
  }
  EXPECT_EQ(error_of(sync_wait(output.flush())), std::errc::broken_pipe);
  EXPECT_EQ(text_of(output.buffered()), "12345");
}

TEST(write_all, fails_if_nothing_is_taken) {
  struct lazy {
    static task<result<std::size_t>> write(std::span<const std::byte> /*from*/) {
      co_return std::size_t{0};
    }
  } to;
  EXPECT_EQ(error_of(sync_wait(io::write_all(to, bytes_of("x")))), std::errc::io_error);
  EXPECT_TRUE(sync_wait(io::write_all(to, bytes_of(""))).has_value());
  io::buffered_writer output(to);
  EXPECT_TRUE(sync_wait(output.write_all(bytes_of("x"))).has_value());
  EXPECT_EQ(error_of(sync_wait(output.flush())), std::errc::io_error);
}

class vectored : public skua_test::for_each_kind {};
INSTANTIATE_TEST_SUITE_P(every, vectored, skua_test::every_kind(), skua_test::name_of_kind);

template <typename Reader, typename Writer>
task<> many_pieces(Reader& from, Writer& to) {
  std::vector<std::string> texts;
  std::string all;
  for (std::size_t i = 0; i < 50; ++i) texts.emplace_back(i % 7, static_cast<char>('a' + i % 26));
  std::vector<std::span<const std::byte>> pieces;
  for (const std::string& one : texts) {
    pieces.push_back(bytes_of(one));
    all += one;
  }
  const result<void> written = co_await io::write_all(to, pieces);
  EXPECT_TRUE(written.has_value());
  std::string left(all.size() / 2, ' ');
  std::string right(all.size() - left.size(), ' ');
  std::size_t got = 0;
  while (got < all.size()) {
    const auto whole_left = std::as_writable_bytes(std::span(left));
    const auto whole_right = std::as_writable_bytes(std::span(right));
    const std::size_t in_left = std::min(got, left.size());
    const std::array<std::span<std::byte>, 3> rooms = {
        whole_left.subspan(in_left), {}, whole_right.subspan(got - in_left)};
    const auto some = co_await io::readv(from, rooms);
    EXPECT_GT(some.value_or(0), 0U);
    got += some.value_or(1'000);
  }
  EXPECT_EQ(left + right, all);
}

TEST_P(vectored, pieces_arrive_in_order_with_or_without_the_kernels_help) {
  auto rt = start();
  auto body = []() -> task<> {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    io::descriptor out{skua::unique_fd(ends[0])};
    io::descriptor in{skua::unique_fd(ends[1])};
    co_await many_pieces(out, in);
    auto [one, other] = io::duplex(1'000);
    co_await many_pieces(one, other);
    EXPECT_EQ(co_await io::readv(out, {}), 0U);
    const std::array<std::span<const std::byte>, 2> pieces = {bytes_of("ab"), bytes_of("cdef")};
    EXPECT_EQ(co_await io::writev(in, pieces, 3), 3U);
    skua_test::room<8> rest;
    const auto got = co_await out.read(rest.span());
    EXPECT_EQ(rest.text(got), "def");
  };
  rt.block_on(body());
}

// --- a stop or a lost race at every wait

constexpr std::string_view text = "first\nsecond\n";

/// Reads to the end by many calls of one kind, each of which the test interrupts at every wait. The
/// object under test outlives all of them.
template <typename Subject, typename Step>
std::string interrupted(gate& at, Subject& subject, Step step, int interruptions) {
  manual_executor here;
  gate other;
  auto loses = [](Subject& of, Step next, gate& winner) -> task<bool> {
    auto how = co_await skua::select(next(of), gate::wait(winner));
    co_return how.index() == 1;
  };
  for (int i = 0; i < interruptions; ++i) {
    driven<std::string> stopped(here, step(subject));
    here.run_ready();
    if (!at.waited_for()) return "did not wait";
    stopped.request_stop();
    here.run_ready();
    if (!stopped.result().stopped()) return "went on";
    driven<bool> lost(here, loses(subject, step, other));
    here.run_ready();
    other.open();
    at.open();  // in the same moment
    here.run_ready();
    if (!lost.ended() || !*lost.result()) return "won";
  }
  at.opens_at_start = true;
  return sync_wait(step(subject));
}

constexpr auto reads_a_line = [](auto& from) -> task<std::string> {
  co_return shown(co_await from.read_line());
};

TEST(buffered_reader_cancel, a_line_is_not_lost) {
  for (int times = 0; times < 6; ++times) {
    gated_reader from{std::string(text), 1};
    io::buffered_reader input(from);
    EXPECT_EQ(interrupted(from.at, input, reads_a_line, times), "first") << times;
    EXPECT_EQ(sync_wait(reads_a_line(input)), "second");
  }
  gated_reader from{std::string(text), 6};
  io::buffered_reader input(from);
  EXPECT_EQ(interrupted(from.at, input, reads_a_line, 1), "first") << "it was complete";
}

TEST(buffered_reader_cancel, neither_are_frames_rooms_and_views) {
  auto next = [](skua::framed<gated_reader>& from) -> task<std::string> {
    co_return shown(co_await from.next());
  };
  auto exactly = [](io::buffered_reader<gated_reader&>& from) -> task<std::string> {
    std::array<std::byte, 13> into{};
    const auto got = co_await io::read_exactly(from, into);
    co_return got.has_value() ? text_of(into) : "failed";
  };
  auto some = [](io::buffered_reader<gated_reader&>& from) -> task<std::string> {
    std::string got(100, ' ');
    const auto count = co_await from.read(std::as_writable_bytes(std::span(got)));
    co_return got.substr(0, *count);
  };
  auto much = [](io::buffered_reader<gated_reader&>& from) -> task<std::string> {
    std::string got(10'000, ' ');
    const auto count = co_await from.read(std::as_writable_bytes(std::span(got)));
    co_return got.substr(0, *count);
  };
  auto view = [](io::buffered_reader<gated_reader&>& from) -> task<std::string> {
    co_return shown(co_await from.fill_buffer(13));
  };
  gated_reader lines{std::string(text), 2};
  skua::framed framed(lines, skua::framing::lines());
  EXPECT_EQ(interrupted(lines.at, framed, next, 3), "first");
  EXPECT_EQ(sync_wait(next(framed)), "second");
  const auto whole = [&](auto step, std::size_t piece, int times) {
    gated_reader from{std::string(text), piece};
    io::buffered_reader<gated_reader&> input(from);
    return interrupted(from.at, input, step, times);
  };
  EXPECT_EQ(whole(exactly, 2, 5), text);
  EXPECT_EQ(whole(view, 3, 3), text);
  EXPECT_EQ(whole(some, 100, 1), text);
  EXPECT_EQ(whole(much, 100, 1), text);
}

TEST(read_to_end_cancel, keeps_what_was_read) {
  struct subject {
    gated_reader from{std::string(text), 2};
    std::string got;
  } all;
  auto step = [](subject& of) -> task<std::string> {
    const auto done = co_await io::read_to_end(of.from, of.got, 100);
    co_return done.has_value() ? of.got : "failed";
  };
  EXPECT_EQ(interrupted(all.from.at, all, step, 4), text);
}

TEST(tee_cancel, keeps_both_in_step) {
  struct subject {
    gated_reader from{std::string(text), 5};
    gated_writer to{2};
    io::tee_reader<gated_reader&, gated_writer&> both = io::tee(from, to);
  };
  auto step = [](subject& of) -> task<std::string> {
    std::string got(100, ' ');
    const auto count = co_await of.both.read(std::as_writable_bytes(std::span(got)));
    co_return got.substr(0, *count);
  };
  for (const bool at_the_writer : {false, true}) {
    subject all;
    gate& interrupts = at_the_writer ? all.to.at : all.from.at;
    gate& other = at_the_writer ? all.from.at : all.to.at;
    other.opens_at_start = true;
    const std::string first = interrupted(interrupts, all, step, 1);
    EXPECT_EQ(first + shown(sync_wait(io::read_to_end(all.both, 100))), text);
    EXPECT_EQ(all.to.taken, text);
  }
}

TEST(copy_cancel, from_a_buffered_reader_loses_nothing) {
  struct subject {
    gated_reader from{std::string(text), 5};
    io::buffered_reader<gated_reader&> input{from};
    gated_writer to{2};
  };
  auto step = [](subject& of) -> task<std::string> {
    const auto done = co_await io::copy(of.input, of.to);
    co_return done.has_value() ? of.to.taken : "failed";
  };
  subject reads;
  reads.to.at.opens_at_start = true;
  EXPECT_EQ(interrupted(reads.from.at, reads, step, 2), text);
  subject writes;
  writes.from.at.opens_at_start = true;
  EXPECT_EQ(interrupted(writes.to.at, writes, step, 5), text);
}

TEST(buffered_writer_cancel, goes_on_with_the_right_byte) {
  struct subject {
    gated_writer to{2};
    io::buffered_writer<gated_writer&> output{to, 16};
  } all;
  EXPECT_TRUE(sync_wait(all.output.write_all(bytes_of(text))).has_value());
  auto step = [](subject& of) -> task<std::string> {
    const auto done = co_await of.output.flush();
    co_return done.has_value() ? of.to.taken : "failed";
  };
  EXPECT_EQ(interrupted(all.to.at, all, step, 5), text);
}

}  // namespace

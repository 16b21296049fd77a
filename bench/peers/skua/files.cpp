// bench/peers/skua/files.cpp: many reads of a file at once, or one after the other.
#include "common/random_reads.hpp"

#include "skua/questions.hpp"

#include <skua/base/error.hpp>
#include <skua/fs/file.hpp>
#include <skua/runtime/join_handle.hpp>
#include <skua/runtime/spawn.hpp>

#include <utility>

namespace {

using peers::block_size;

skua::task<> read_some(const skua::fs::file& from, std::uint64_t seed, std::uint64_t times) {
  std::vector<std::byte> block(block_size);
  peers::block_sequence places(seed);
  for (std::uint64_t i = 0; i < times; ++i) {
    const std::uint64_t place = places.next();
    const auto got = co_await from.read_at(block, static_cast<std::int64_t>(place * block_size));
    peers::must_be(got.value_or(0), block_size);
    peers::must_be(peers::number_in(block.data()), place);
  }
}

skua::task<> read_all(const skua::fs::file& from, std::uint64_t depth, std::uint64_t count) {
  std::vector<skua::join_handle<void>> readers;
  readers.reserve(depth);
  for (std::uint64_t i = 0; i < depth; ++i)
    readers.push_back(skua::spawn(read_some(from, i, count / depth)));
  for (auto& one : readers) co_await std::move(one);
}

skua::task<std::int64_t> time_it(std::string path, std::uint64_t depth, std::uint64_t count) {
  const auto file = skua::or_throw(co_await skua::fs::file::open(std::move(path)));
  co_await read_all(file, depth, count);
  const std::int64_t begun = peers::now();
  co_await read_all(file, depth, count);
  co_return peers::now() - begun;
}

template <std::uint64_t Depth>
peers::answer file_reads(const peers::request& asked) {
  const peers::numbered_blocks file(asked.path);
  const std::uint64_t count = peers::scaled(asked, 102'400, Depth);
  skua::runtime here = start_runtime(asked);
  return peers::per_operation(here.block_on(time_it(file.path(), Depth, count)), count);
}

}  // namespace

void add_files(questions& to) {
  to.push_back({"file_reads_1", file_reads<1>});
  to.push_back({"file_reads_64", file_reads<64>});
}

// skua/coro/stream.hpp: what can be done with a sequence of values that come in time.
#pragma once

#include "skua/base/abi.hpp"
#include "skua/coro/async_generator.hpp"
#include "skua/coro/stream_adaptor.hpp"
#include "skua/coro/stream_for_each.hpp"
#include "skua/coro/stream_map.hpp"
#include "skua/coro/stream_take.hpp"

/// An async_generator is a stream; adaptors make another one of it:
///
///   auto busy = readings() | stream::filter(is_busy) | stream::map(to_percent) | stream::take(10);
///   co_await stream::for_each(std::move(busy), show);
///
/// Nothing runs before next() is awaited, and nothing runs ahead: each adaptor asks its source for
/// as many values as it needs. Functions may be plain or give an awaitable, which is then awaited.
/// They and the source are moved in. Each adaptor costs one frame for the whole stream.
///
/// Exceptions of source and functions leave next(), after which the stream has ended. A stop
/// unwinds adaptors and source, and the value they were at is lost.
///
/// More of it: skua/sync/stream_channel.hpp (channels as streams), skua/sync/stream_merge.hpp and
/// stream_buffered.hpp (several things under way at a time), skua/time/stream_time.hpp.
namespace skua::inline SKUA_ABI::stream {}

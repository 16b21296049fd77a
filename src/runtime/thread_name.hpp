// src/runtime/thread_name.hpp: names for our threads, as debuggers and top show them.
#pragma once

#include "skua/base/abi.hpp"

#include <cstddef>
#include <string_view>

namespace skua::inline SKUA_ABI {

/// Names the calling thread `prefix`-`index`. Linux keeps 15 bytes, so the prefix is cut where the
/// index needs the room, between characters of UTF-8 and in any case before a zero byte. Of an
/// index with more than 15 digits the last 15 are shown; an empty prefix has no hyphen.
void name_this_thread(std::string_view prefix, std::size_t index) noexcept;

}  // namespace skua::inline SKUA_ABI

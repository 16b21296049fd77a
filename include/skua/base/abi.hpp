// skua/base/abi.hpp: the inline namespace that keeps incompatible builds from linking together.
#pragma once

// The only macro of the library, since a namespace cannot be named by a constant. Nobody sets it.
//
// g++ before its -O2, or with a sanitizer, turns symmetric transfer into nested calls, so
// coroutines compiled by g++ always return to a trampoline instead; those compiled by clang never
// do. A program that mixed the two would break the one-definition rule without a word. With the
// mode in the namespace's name it fails at link, with the name in the message.
#if defined(__clang__)
#define SKUA_ABI v0
#else
#define SKUA_ABI v0_trampoline
#endif

namespace skua::inline SKUA_ABI {

/// True if a coroutine hands over by returning to its context's loop, not by symmetric transfer.
#if defined(__clang__)
inline constexpr bool uses_trampoline = false;
#else
inline constexpr bool uses_trampoline = true;
#endif

}  // namespace skua::inline SKUA_ABI

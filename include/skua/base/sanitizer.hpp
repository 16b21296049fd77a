// skua/base/sanitizer.hpp: which checkers this build has, and what ThreadSanitizer must be told.
#pragma once

#include "skua/base/abi.hpp"

namespace skua::inline SKUA_ABI {

// g++ 12 tells by macros, clang by features. The one header with #if, so that all others can use
// `if constexpr`.

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool built_with_asan = true;
#elif defined(__has_feature)
inline constexpr bool built_with_asan = __has_feature(address_sanitizer);
#else
inline constexpr bool built_with_asan = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool built_with_tsan = true;
#elif defined(__has_feature)
inline constexpr bool built_with_tsan = __has_feature(thread_sanitizer);
#else
inline constexpr bool built_with_tsan = false;
#endif

/// True if the standard library checks its own preconditions, as `*` of a failed result.
#if defined(_GLIBCXX_ASSERTIONS)
inline constexpr bool built_with_library_assertions = true;
#else
inline constexpr bool built_with_library_assertions = false;
#endif

}  // namespace skua::inline SKUA_ABI

extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}

namespace skua::inline SKUA_ABI {

/// For a hand-over that ThreadSanitizer cannot see because it goes through the kernel: what comes
/// before tsan_release(p) in one thread happens before what follows a later tsan_acquire(p) in
/// another. Both only inform the checker; they order nothing and are empty in other builds.
inline void tsan_release([[maybe_unused]] void* address) noexcept {
  if constexpr (built_with_tsan) __tsan_release(address);
}

inline void tsan_acquire([[maybe_unused]] void* address) noexcept {
  if constexpr (built_with_tsan) __tsan_acquire(address);
}

}  // namespace skua::inline SKUA_ABI

// tests/support/thread_limit.cpp: a pthread_create before the one of the sanitizer or C library.
#include "support/thread_limit.hpp"

#include "skua/base/check.hpp"
#include "support/countdown.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>

namespace {

constinit skua_test::countdown creations;

using creation = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

}  // namespace

// The sanitizers define pthread_create too, but weakly, so that ours is taken and there is no
// clash. Theirs must still be called, or they would not know the thread: it has this name besides.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" [[gnu::weak]] creation __interceptor_pthread_create;

// The executable's own symbols come before those of libraries, so libstdc++ calls this, too.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) noexcept {
  if (creations.hit()) return EAGAIN;
  if (__interceptor_pthread_create != nullptr)
    return __interceptor_pthread_create(thread, attributes, start, argument);
  auto* const next = reinterpret_cast<creation*>(::dlsym(RTLD_NEXT, "pthread_create"));
  skua::check(next != nullptr, "the C library can create threads");
  return next(thread, attributes, start, argument);
}

namespace skua_test {

thread_limit::thread_limit(std::size_t kth) {
  skua::check(kth > 0, "threads are counted from one");
  skua::check(!creations.running(), "there is one thread limit at a time");
  creations.start(kth);
}

thread_limit::~thread_limit() {
  creations.start(0);
}

bool thread_limit::reached() const noexcept {
  return !creations.running();
}

}  // namespace skua_test

// tests/support/in_sandbox.cpp: runs a program where io_uring is forbidden, or memory is scarce.
//
// usage: in_sandbox refused EPERM|ENOSYS|EOPNOTSUPP PROGRAM [ARGUMENT...]
//        in_sandbox memlock BYTES PROGRAM [ARGUMENT...]      as nobody; needs root
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr int skipped = 77;  // ctest's SKIP_RETURN_CODE
constexpr unsigned nobody = 65'534;

unsigned number_of(std::string_view name) {
  if (name == "EPERM") return EPERM;
  if (name == "ENOSYS") return ENOSYS;
  if (name == "EOPNOTSUPP") return EOPNOTSUPP;
  std::fprintf(stderr, "in_sandbox: unknown error\n");
  std::exit(2);
}

bool refuse_rings(unsigned error) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(program), program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

bool limit_memory(rlim_t bytes) {
  const rlimit both{.rlim_cur = bytes, .rlim_max = bytes};
  return ::setrlimit(RLIMIT_MEMLOCK, &both) == 0 && ::setgroups(0, nullptr) == 0 &&
         ::setresgid(nobody, nobody, nobody) == 0 && ::setresuid(nobody, nobody, nobody) == 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) {
    std::fprintf(stderr, "usage: in_sandbox refused ERROR | memlock BYTES  PROGRAM...\n");
    return 2;
  }
  const std::string_view how = arguments[1];
  // Opened first: nobody may not be allowed to walk there.
  const int program = ::open(arguments[3], O_RDONLY);
  if (program < 0) {
    std::perror(arguments[3]);
    return 2;
  }
  const bool ready = how == "refused" ? refuse_rings(number_of(arguments[2]))
                                      : limit_memory(std::strtoull(arguments[2], nullptr, 10));
  if (!ready) {
    std::perror("in_sandbox: not possible here");
    return skipped;
  }
  ::fexecve(program, arguments + 3, environ);
  std::perror("in_sandbox: fexecve");
  return 2;
}

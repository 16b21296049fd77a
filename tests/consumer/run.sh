#!/usr/bin/env bash
# tests/consumer/run.sh: one way of using skua from another project, as ctest runs it.
# usage: run.sh CASE BUILD_DIRECTORY COMPILER OTHER_COMPILER
# `install` comes first and fills BUILD_DIRECTORY/consumer; the other cases only read what it left.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$2 compiler=$3 other_compiler=$4
work=$build/consumer/$1
installed=$build/consumer/installed
# For a skua that was built as a shared library.
export LD_LIBRARY_PATH=$installed/lib:$work/elsewhere/lib
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi

fail() {
  echo "consumer: $1" >&2
  exit 1
}

fresh() {
  rm -rf "$1"
  mkdir -p "$1"
}

cmake_consumer() { # project, prefix where skua is installed, further arguments
  local project=$1 prefix=$2
  shift 2
  cmake -S "$here/$project" -B "$work/$project" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release "$@"
  cmake --build "$work/$project"
  "$work/$project/consumer"
}

pkg_config_consumer() { # prefix where skua is installed, compiler
  local flags
  flags=$(PKG_CONFIG_PATH="$1/lib/pkgconfig" pkg-config --cflags --libs skua)
  # shellcheck disable=SC2086  # the flags are words
  "$2" -std=c++23 "$here/main.cpp" $flags -o "$work/pkg_config"
}

case $1 in
  install)
    for prefix in installed to_move; do
      fresh "$build/consumer/$prefix"
      cmake --install "$build" --prefix "$build/consumer/$prefix"
    done
    ;;
  find_package)
    fresh "$work"
    cmake_consumer find_package "$installed"
    ;;
  pkg_config)
    fresh "$work"
    pkg_config_consumer "$installed" "$compiler"
    "$work/pkg_config"
    ;;
  deb)
    fresh "$work"
    cpack --config "$build/CPackConfig.cmake" -B "$work/packages" -D CPACK_STRIP_FILES=OFF
    for package in libskua-dev skua-tools; do
      dpkg-deb --field "$work/packages/$package"_*.deb Package Depends
      dpkg-deb --extract "$work/packages/$package"_*.deb "$work/root"
    done
    [[ ! -e $work/root/usr/bin/skua ]] && fail "skua-tools has no skua"
    "$work/root/usr/bin/skua" --version
    if dpkg-deb --contents "$work/packages/libskua-dev"_*.deb | grep bin/; then fail "programs in -dev"; fi
    cmake_consumer find_package "$work/root/usr"
    ;;
  readme) # its first program, by the command line that it tells, but for the compiler and the port
    fresh "$work"
    readme=$here/../../README.md
    awk '/^```cpp$/ { inside = 1; next } /^```$/ && inside { exit } inside' "$readme" |
      sed 's/"\[::\]:7000"/"127.0.0.1:0"/' >"$work/echo.cpp"
    command=$(grep -o '^clang++-19 .* -o echo$' "$readme") || fail "the README tells no command line"
    cd "$work"
    PKG_CONFIG_PATH=$installed/lib/pkgconfig bash -c "${command/clang++-19/"$compiler"}"
    ./echo &
    until (($(awk '/^SigCgt/ {print "0x" $2}' "/proc/$!/status") >> 14 & 1)); do
      kill -0 $! || fail "it has ended by itself"
      sleep 0.05
    done
    kill -TERM $! # which it listens for now
    wait $!
    ;;
  makefile) # that of docs/integration.md, word for word
    fresh "$work"
    sed -n '/^```make$/,/^```$/p' "$here/../../docs/integration.md" | grep -v '^```' >"$work/Makefile"
    cp "$here/main.cpp" "$work"
    PKG_CONFIG_PATH=$installed/lib/pkgconfig make -C "$work" CXX="$compiler"
    "$work/service"
    ;;
  fiber)
    fresh "$work"
    cmake_consumer fiber "$installed"
    flags=$(PKG_CONFIG_PATH="$installed/lib/pkgconfig" pkg-config --cflags --libs skua-fiber)
    # shellcheck disable=SC2086  # the flags are words
    "$compiler" -std=c++23 "$here/fiber/main.cpp" $flags -o "$work/pkg_config"
    "$work/pkg_config"
    if grep -i boost "$installed/lib/cmake/skua/skua-targets.cmake" "$installed/lib/pkgconfig/skua.pc"
    then fail "who does not use fibers needs Boost"; fi
    ;;
  add_subdirectory)
    fresh "$work"
    cmake_consumer add_subdirectory /nowhere -DSKUA_UNITY_BUILD=ON
    ;;
  shared) # and without c-ares, which is no less an option
    fresh "$work"
    cmake -S "$here/../.." -B "$work/skua" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
      -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DSKUA_BUILD_TESTS=OFF \
      -DSKUA_BUILD_EXAMPLES=OFF -DSKUA_BUILD_TOOLS=OFF -DSKUA_WITH_CARES=OFF \
      -DSKUA_WITH_FIBERS=ON -DSKUA_UNITY_BUILD=ON
    cmake --build "$work/skua" --target skua skua_fiber
    cmake --install "$work/skua" --prefix "$work/installed"
    LD_LIBRARY_PATH=$work/installed/lib cmake_consumer fiber "$work/installed"
    cmake_consumer find_package "$work/installed"
    readelf -d "$work/find_package/consumer" | grep 'NEEDED.*libskua\.so\.0' ||
      fail "the program does not need libskua.so.0"
    "$work/find_package/consumer" | grep 'by getaddrinfo' || fail "it does not ask the C library"
    if grep libcares "$work/installed/lib/pkgconfig/skua.pc"; then fail "pkg-config names c-ares"; fi
    ;;
  moved)
    fresh "$work"
    mv "$build/consumer/to_move" "$work/elsewhere"
    cmake_consumer find_package "$work/elsewhere"
    pkg_config_consumer "$work/elsewhere" "$compiler"
    "$work/pkg_config"
    if grep -rIl "$build" "$work/elsewhere"; then fail "installed files name the old place"; fi
    ;;
  other_compiler)
    fresh "$work"
    if pkg_config_consumer "$installed" "$other_compiler" 2>"$work/errors"; then
      fail "a program of the other compiler family links"
    fi
    cat "$work/errors"
    # clang's namespace is v0, g++'s v0_trampoline: base/abi.hpp says why.
    case $other_compiler in *clang*) name=v0 ;; *) name=v0_trampoline ;; esac
    grep -q "undefined reference to .skua::$name::" "$work/errors" ||
      fail "the linker does not name skua::$name"
    ;;
  *) fail "no case '$1'" ;;
esac

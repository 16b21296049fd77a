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
  add_subdirectory)
    fresh "$work"
    cmake_consumer add_subdirectory /nowhere
    ;;
  shared)
    fresh "$work"
    cmake -S "$here/../.." -B "$work/skua" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
      -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DSKUA_BUILD_TESTS=OFF \
      -DSKUA_BUILD_EXAMPLES=OFF
    cmake --build "$work/skua" --target skua
    cmake --install "$work/skua" --prefix "$work/installed"
    cmake_consumer find_package "$work/installed"
    readelf -d "$work/find_package/consumer" | grep 'NEEDED.*libskua\.so\.0' ||
      fail "the program does not need libskua.so.0"
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

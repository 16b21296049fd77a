#!/usr/bin/env bash
# tests/consumer/run.sh: one way of using skua from another project, as ctest runs it.
# usage: run.sh CASE BUILD_DIRECTORY COMPILER OTHER_COMPILER
# `install` comes first and fills BUILD_DIRECTORY/consumer; the other cases only read what it left.
# Ends with 77 if the case needs a tool that is not there.
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

skip() {
  echo "consumer: skipped: $1" >&2
  exit 77
}

block() { # heading of docs/integration.md, number of the block of code below it
  awk -v heading="## $1" -v wanted="$2" '
    /^## / { here = $0 == heading }
    here && /^```/ { inside = !inside; n += inside; next }
    here && inside && n == wanted { print; found = 1 }
    END { exit !found }' "$here/../../docs/integration.md" || fail "no block $2 below '$1'"
}

as_told() { # the commands of such a block, here and now, but for the compiler
  local commands
  commands=$(block "$1" "$2")
  echo "$commands"
  eval "${commands//clang++-19/"$compiler"}"
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
  conan) # docs/integration.md word for word: makes the package, and builds a project that requires it
    for place in "$here"/../../build/tools/conan-*/bin; do PATH=$place:$PATH; done # by ./dev
    conan --version 2>/dev/null | grep ' 2\.' || skip "no Conan 2 (pip install conan)"
    fresh "$work"
    # A cache of its own, without remotes; and nothing is written to the sources.
    export CONAN_HOME=$work/home
    mkdir -p "$CONAN_HOME" "$work/service"
    cat >"$CONAN_HOME/global.conf" <<TEXT
tools.cmake.cmaketoolchain:generator=Ninja
tools.cmake.cmake_layout:test_folder=$work/test
core:non_interactive=True
TEXT
    conan remote disable '*'
    unset CMAKE_CXX_COMPILER_LAUNCHER # skua's own makes ccache overlook where it is built
    ln -s "$(realpath "$here/../..")" "$work/skua"
    cd "$work"
    as_told Conan 1
    cp "$here/fiber/CMakeLists.txt" "$here/fiber/main.cpp" "$work/service"
    block Conan 2 >"$work/service/conanfile.txt"
    as_told Conan 3
    "$work/build/consumer"
    if find "$CONAN_HOME/p" -name 'skua*-config.cmake' -path '*/p/lib/*' | grep .
    then fail "the package has a CMake package of its own, besides Conan's"; fi
    conan install --requires 'skua/[~0.1]' --options 'skua/*:with_fibers=True' \
      --settings compiler.cppstd=23 --generator PkgConfigDeps --output-folder "$work/lib/pkgconfig"
    pkg_config_consumer "$work" "$compiler"
    "$work/pkg_config" | grep 'by c-ares' || fail "it has no c-ares"
    export PKG_CONFIG_PATH=$work/lib/pkgconfig
    pkg-config --libs skua-fiber | grep boost_context || fail "fibers have no Boost"
    if pkg-config --libs skua | grep boost; then fail "who does not use fibers needs Boost"; fi
    ;;
  vcpkg) # docs/integration.md word for word; without vcpkg, only that its project is right
    fresh "$work"
    project=$here/../../packaging/vcpkg/consumer
    root=${VCPKG_ROOT:-$(dirname "$(realpath "$(command -v vcpkg || echo none)")")}
    if [[ ! -f $root/scripts/buildsystems/vcpkg.cmake ]]; then
      cmake -S "$project" -B "$work/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
        -DCMAKE_PREFIX_PATH="$installed" -DCMAKE_BUILD_TYPE=Release
      cmake --build "$work/build"
      "$work/build/consumer"
      skip "no vcpkg (set VCPKG_ROOT, or have it on PATH)"
    fi
    ln -s "$(realpath "$here/../..")" "$work/skua"
    export VCPKG_ROOT=$root VCPKG_BINARY_SOURCES=clear # it would not see that the sources changed
    cd "$work"
    as_told vcpkg 1
    "$work/build/consumer"
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

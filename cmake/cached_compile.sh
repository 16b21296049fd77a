#!/usr/bin/env bash
# cmake/cached_compile.sh ROOT COMPILER ARGUMENT...: compiles through ccache, so that another clone
# of the same sources finds it again.
#
# A precompiled header names the clone that made it, and whatever uses it would be known by those
# bytes. So each gets a checksum beside it of what it was made from, which ccache takes instead.
set -euo pipefail
root=$1
shift
set -- "${@/#"$PWD"\//}" # ccache leaves alone what stands behind -Xclang

made_of() { # the compiler, its arguments and the contents of all that it read
  "$1" --version
  printf '%s\n' "${@//"$root"/.}"
  sed -e 's/^[^:]*://' -e 's/\\$//' "$read_by" | xargs cat
}

output='' read_by='' last=''
for argument in "$@"; do
  case $last in
    -o) output=$argument ;;
    -MF) read_by=$argument ;;
  esac
  last=$argument
done

case $output in
  *.pch | *.gch)
    "$@"
    made_of "$@" | sha256sum >"$output.sum"
    ;;
  *)
    export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
    export CCACHE_SLOPPINESS=pch_defines,time_macros
    exec ccache "$@"
    ;;
esac

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes FILE.ptx beside each FILE.cu with nvcc. The results are committed, so that building and
# testing need no CUDA toolkit.
#
#   tools/make_ptx.sh [FILE.cu ...]      default: every .cu in the kernel folders
#
# A line "// arch: compute_90" in a .cu asks for another architecture than compute_75, the
# lowest that nvcc 13 compiles for.
#
# nvcc writes the PTX version of its own toolkit (9.0 for CUDA 13.0), which older drivers refuse by
# the number alone. The line is rewritten to 8.4, that of CUDA 12.4, the oldest driver that cugraft
# takes; ptxas then assembles the result, which fails if an instruction newer than 8.4 is in it.
# Comments go, because they name the compiler's build and, with some options, folders.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
ptx_version=8.4

make_one() {
  source=$1
  result=${source%.cu}.ptx
  arch=$(sed -n 's|^// arch: *||p' "$source" | head -n 1)
  arch=${arch:-compute_75}
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  nvcc -ptx -O3 -std=c++17 -arch="$arch" -o "$work/raw.ptx" "$source"
  sed -e 's|[[:space:]]*//.*$||' \
      -e "s|^\.version .*|.version $ptx_version|" "$work/raw.ptx" | cat -s | sed '/./,$!d' \
      > "$work/result.ptx"
  ptxas -arch="sm_${arch#compute_}" -o "$work/check.cubin" "$work/result.ptx"
  cp "$work/result.ptx" "$result"
  rm -rf "$work"
  trap - EXIT
  echo "$result"
}

if [ $# -eq 0 ]; then
  set -- $(find "$root/tests/support/kernels" "$root/cli" -name '*.cu' | sort)
fi
for source in "$@"; do
  make_one "$source"
done

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that are missing for the named parts: build, test, bench, lint, docs.
# Does nothing, and needs neither a network nor rights, where all of them are there.
set -euo pipefail

declare -A packages=(
  [build]="cmake ninja-build g++ python3 python3-pip libfmt-dev libcli11-dev nlohmann-json3-dev
           libgtest-dev libgmock-dev librapidcheck-dev"
  [test]="clang-14 libclang-rt-14-dev"
  [bench]="libbenchmark-dev valgrind"
  [lint]="clang-14 clang-format-14 clang-tidy-14 python3-pip"
  [docs]="doxygen"
)

fail() {
  echo "tools/setup.sh: $*" >&2
  exit 1
}

is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

[ $# -gt 0 ] || fail "name the parts to set up: ${!packages[*]}"
wanted=()
for part in "$@"; do
  [ -n "${packages[$part]:-}" ] || fail "no part is called '$part'; there are: ${!packages[*]}"
  read -ra names -d '' <<<"${packages[$part]}" || true
  wanted+=("${names[@]}")
done

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  [ -n "${CUGRAFT_SKIP_SETUP:-}" ] && exit 0
  fail "there is no apt-get here. Install what these Debian packages hold by other means, then set" \
    "CUGRAFT_SKIP_SETUP=1 and try again: ${wanted[*]}"
fi

missing=()
for name in "${wanted[@]}"; do
  is_installed "$name" || missing+=("$name")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null ||
    fail "needs root or sudo to install: ${missing[*]}"
  as_root=(sudo)
fi
echo "tools/setup.sh: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null

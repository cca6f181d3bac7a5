#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Format and static analysis of all files; says each finding and fails if there is one.
# Usage: tools/lint.sh [format|tidy|python]...   without a word, all of them
#        tools/lint.sh reformat                  writes the format instead
set -euo pipefail
cd "$(dirname "$0")/.."

ruff_version=0.6.9
# Tests are left out of the static analysis: it says little of them, and takes as long as all else.
tidied='src|sim/src|cli|bench'
jobs=${JOBS:-$(nproc)}

cpp_files() {
  find include src sim cli bench examples tests \
    \( -path tests/package/programs -o -path tests/package/refused \) -prune -o \
    \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' \) -print | sort
}

check_format() {
  cpp_files | xargs clang-format-14 --dry-run -Werror
}

# The database is made for clang, so that its analyzer gets no flag that it does not know.
check_tidy() {
  cmake --preset lint >/dev/null
  run-clang-tidy-14 -p build/lint -quiet -j "$jobs" "^$PWD/($tidied)/" 2>/dev/null |
    { grep -v '^clang-tidy-14 ' || true; }
}

ruff() {
  local folder=build/tools/ruff
  if ! [ -x "$folder/bin/ruff" ]; then
    python3 -m pip install --quiet --target "$folder" "ruff==$ruff_version"
  fi
  "$folder/bin/ruff" "$@"
}

check_python() {
  ruff check --quiet .
  ruff format --quiet --check .
}

check_reformat() {
  cpp_files | xargs clang-format-14 -i
  ruff format --quiet .
}

[ $# -gt 0 ] || set -- format python tidy
for part in "$@"; do
  echo "lint: $part"
  "check_$part"
done

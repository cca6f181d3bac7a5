#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the reference of the public headers in a folder; a public name without a comment is an error.
# Usage: tools/docs.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
output=$1

number() {
  sed -n "s/#define CUGRAFT_VERSION_$1 //p" include/cugraft/version.hpp
}

mkdir -p "$output"
{
  cat tools/Doxyfile
  echo "OUTPUT_DIRECTORY = $output"
  echo "PROJECT_NUMBER = $(number MAJOR).$(number MINOR).$(number PATCH)"
} | doxygen -
echo "docs: $output/html/index.html"

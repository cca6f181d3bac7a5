#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the reference of the public headers in a folder. A type without a comment is an error, and so
# is a comment that doxygen cannot read or that names what is not there; a member may speak for itself.
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
  echo "WARN_LOGFILE = $output/warnings.log"
} | doxygen -

# What is said of a template holds for its specializations.
if grep -vE ': (Member .*|Compound .*<.*) is not documented\.$' "$output/warnings.log" >&2; then
  exit 1
fi
echo "docs: $output/html/index.html"

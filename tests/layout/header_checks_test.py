# SPDX-License-Identifier: Apache-2.0
"""cmake/HeaderChecks.cmake finds headers that do not stand alone."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = f"""
cmake_minimum_required(VERSION 3.25)
project(headers LANGUAGES CXX)
include({ROOT}/cmake/HeaderChecks.cmake)
cugraft_add_header_checks(checked FOLDER ${{CMAKE_SOURCE_DIR}}/include BESIDE cstring)
"""


class HeaderChecksTest(unittest.TestCase):
    def build(self, header: str) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "include/a").mkdir(parents=True)
            (root / "include/a/b.hpp").write_text(header, encoding="utf-8")
            (root / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
            cmake = os.environ.get("CMAKE", "cmake")
            configure = [cmake, "-S", root, "-B", root / "build", "-G", "Ninja"]
            subprocess.run(configure, check=True, capture_output=True)
            return subprocess.run(
                [cmake, "--build", root / "build"], check=False, capture_output=True, text=True
            )

    def test_a_header_that_stands_alone(self):
        built = self.build("#pragma once\n#include <cstddef>\nstd::size_t f();\n")
        self.assertEqual(built.returncode, 0, built.stdout)

    def test_a_header_without_a_guard(self):
        self.assertIn("redefinition of", self.build("struct a {};\n").stdout)

    def test_a_header_that_leans_on_another(self):
        built = self.build("#pragma once\nstd::size_t f();\n")
        self.assertNotEqual(built.returncode, 0)
        self.assertIn("alone/a/b.hpp.cpp", built.stdout)

    def test_a_header_that_clashes_with_one_before_it(self):
        built = self.build("#pragma once\n#ifdef NULL\n#error clash\n#endif\n")
        self.assertIn("#error clash", built.stdout)
        self.assertIn("after-cstring.cpp", built.stdout)


if __name__ == "__main__":
    unittest.main()

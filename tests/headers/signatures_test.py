# SPDX-License-Identifier: Apache-2.0
"""The assertions on the function list fail where list and header differ."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import signatures

HEADER = """#define CUDA_VERSION 12040
typedef int CUresult;
extern "C" CUresult cuInit(unsigned flags);
"""
LINE = 'CUGRAFT_DRIVER_FUNCTION({}, "{}", {}, required, "{}", {})\n'


class SignaturesTest(unittest.TestCase):
    def compiles(self, *functions: signatures.Function) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "driver").mkdir()
            header = root / "driver/cuda_api.hpp"
            header.write_text(HEADER, encoding="utf-8")
            source = root / "signatures.cpp"
            source.write_text(signatures.assertions(list(functions), header), encoding="utf-8")
            command = [
                os.environ.get("CXX", "c++"),
                "-std=c++20",
                "-fsyntax-only",
                f"-I{root}",
                source,
            ]
            return subprocess.run(command, check=False, capture_output=True).returncode == 0

    def test_the_same(self):
        self.assertTrue(self.compiles(signatures.Function("cuInit", 2000, "cuInit", "(unsigned)")))

    def test_another_type(self):
        self.assertFalse(self.compiles(signatures.Function("cuInit", 2000, "cuInit", "(int)")))

    def test_a_function_that_the_header_should_have(self):
        missing = signatures.Function("cuFini", 12040, "cuFini", "()")
        self.assertFalse(self.compiles(missing))

    def test_a_function_newer_than_the_header(self):
        self.assertTrue(self.compiles(signatures.Function("cuFini", 12050, "cuFini", "()")))

    def test_an_earlier_form_that_the_header_has_replaced(self):
        replaced = signatures.Function("cuFini", 2000, "cuFini_v2", "()", "earlier")
        self.assertTrue(self.compiles(replaced))

    def test_types_of_ours(self):
        ours = "(::cugraft::newer::flags)"
        self.assertTrue(self.compiles(signatures.Function("cuInit", 2000, "cuInit", ours)))
        self.assertFalse(self.compiles(signatures.Function("cuFini", 2000, "cuFini", ours)))


class ReadTest(unittest.TestCase):
    def test_a_line(self):
        line = LINE.format("mem_alloc", "cuMemAlloc", 3020, "cuMemAlloc_v2", "(size_t)")
        self.assertEqual(
            signatures.read_functions(line),
            [signatures.Function("cuMemAlloc", 3020, "cuMemAlloc_v2", "(size_t)", "required")],
        )

    def test_a_line_of_another_form(self):
        with self.assertRaises(ValueError):
            signatures.read_functions("CUGRAFT_DRIVER_FUNCTION(mem_alloc, 3020)\n")


if __name__ == "__main__":
    unittest.main()

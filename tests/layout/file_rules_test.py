# SPDX-License-Identifier: Apache-2.0
"""The rules on files and documents find what they are for."""

import unittest

from layout import document_rules, file_rules
from tree_case import TreeCase

SPDX = "SPDX-License-Identifier: Apache-2.0\n"


class FileTest(TreeCase):
    def test_licence(self):
        files = {
            "src/base/a.cpp": f"// {SPDX}",
            "tools/a.py": f"#!/usr/bin/env python3\n# {SPDX}",
            "src/base/b.cpp": "int a;\n",
            "src/CMakeLists.txt": "",
            ".ci/run": "#!/bin/sh\n",
        }
        self.assertCountEqual(
            self.found(file_rules.check_licence, files),
            [
                "src/base/b.cpp:1: the first line must be: // " + SPDX.strip(),
                "src/CMakeLists.txt:1: the first line must be: # " + SPDX.strip(),
                ".ci/run:1: the first line must be: # " + SPDX.strip(),
            ],
        )

    def test_length(self):
        files = {
            "src/base/a.cpp": "\n" * 501,
            "src/base/b.cpp": "\n" * 500,
            "src/driver/functions.def": "\n" * 600,
            "docs/a.md": "\n" * 600,
        }
        self.assertCountEqual(
            self.found(file_rules.check_length, files),
            ["src/base/a.cpp:501: 501 lines; the limit is 500"],
        )

    def test_test_files(self):
        test = "TEST(A, B) {}\n"
        files = {
            "tests/unit/base/a_test.cpp": test,
            "tests/unit/base/b.cpp": test,
            "tests/unit/misc/a_test.cpp": test,
            "tests/contract/suite.cpp": "",
            "tests/sim/a_test.cpp": "// TEST(A, B)\n",
            "tests/support/a.cpp": "",
        }
        named = "a file with tests, and only such a file, is named _test.cpp"
        self.assertCountEqual(
            self.found(file_rules.check_test_files, files),
            [
                f"tests/unit/base/b.cpp:1: {named}",
                f"tests/sim/a_test.cpp:1: {named}",
                "tests/unit/misc/a_test.cpp:1: only folders of layers are built in tests/unit",
            ],
        )


class DocumentTest(TreeCase):
    def found_in(self, text: str) -> list[str]:
        files = {
            "include/cugraft/graph.hpp": "class graph { void recapture(); };  // gone\n",
            "include/cugraft/version.hpp": "#define CUGRAFT_VERSION_MAJOR 1\n",
            "docs/a.md": text,
        }
        return self.found(document_rules.check_documents, files)

    def test_what_there_is(self):
        self.assertCountEqual(
            self.found_in(
                "`cugraft::graph::recapture`, `graph::recapture()`, `g.recapture(s, body)`, "
                "`cuInit(0)`, `std::move(x)`, `CUGRAFT_VERSION_MAJOR`, `docs/a.md`, "
                "`build/release/bin/cugraft`, `a/b`, gone()\n"
            ),
            [],
        )

    def test_what_there_is_not(self):
        self.assertCountEqual(
            self.found_in("a\n`cugraft::gone`\n"),
            ["docs/a.md:2: no public header names cugraft::gone"],
        )
        self.assertCountEqual(
            self.found_in("`g.gone(1)`\n"), ["docs/a.md:1: `g.gone(1)`: there is no such function"]
        )
        self.assertCountEqual(
            self.found_in("set CUGRAFT_GONE\n"), ["docs/a.md:1: CUGRAFT_GONE is read nowhere"]
        )
        self.assertCountEqual(
            self.found_in("see `docs/b.md`\n"), ["docs/a.md:1: `docs/b.md`: there is no such file"]
        )


if __name__ == "__main__":
    unittest.main()

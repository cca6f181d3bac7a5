# SPDX-License-Identifier: Apache-2.0
"""What holds for each file by itself."""

import re

from .source_tree import CPP_SUFFIXES, SourceFile, SourceTree, Violation

SPDX = "SPDX-License-Identifier: Apache-2.0"
LINES = 500
LONG_FILES = ("src/driver/functions.def",)
LAYERS = ("base", "driver", "handles", "model", "capture", "engines", "recapture", "render")
TEST_FOLDERS = ("tests/unit", "tests/sim", "tests/contract", "tests/gpu")


def _comment_start(file: SourceFile) -> str:
    return "//" if file.path.removesuffix(".in").endswith(CPP_SUFFIXES) else "#"


def check_licence(tree: SourceTree) -> list[Violation]:
    """The first line, or the second of a script, is the licence."""
    found = []
    for file in tree.files.values():
        if file.path.endswith(".md"):
            continue
        lines = file.text.splitlines()[:2]
        if lines and lines[0].startswith("#!"):
            lines = lines[1:]
        expected = f"{_comment_start(file)} {SPDX}"
        if not lines or lines[0] != expected:
            found.append(file.violation(1, f"the first line must be: {expected}"))
    return found


def check_length(tree: SourceTree) -> list[Violation]:
    """No file is longer than one can read."""
    found = []
    for file in tree.files.values():
        count = len(file.text.splitlines())
        is_source = file.is_cpp or file.path.endswith((".py", ".sh", ".cmake"))
        if is_source and count > LINES and file.path not in LONG_FILES:
            found.append(file.violation(LINES + 1, f"{count} lines; the limit is {LINES}"))
    return found


def check_tests_are_built(tree: SourceTree) -> list[Violation]:
    """The build takes tests by their names, so a file with another name would never run."""
    found = []
    for file in tree.cpp_files(*TEST_FOLDERS):
        if file.path.endswith(".cpp") and not file.path.endswith("_test.cpp"):
            found.append(file.violation(1, "the name of a test file ends with _test.cpp"))
        elif file.is_under("tests/unit") and file.path.split("/")[2] not in LAYERS:
            found.append(file.violation(1, "only folders of layers are built in tests/unit"))
        elif file.path.endswith("_test.cpp") and not re.search(
            r"\b(?:TYPED_)?TEST(?:_F|_P)?\s*\(|\bRC_GTEST_PROP|\bINSTANTIATE_T", file.code
        ):
            found.append(file.violation(1, "a test file without a test"))
    return found


CHECKS = (check_licence, check_length, check_tests_are_built)

# SPDX-License-Identifier: Apache-2.0
"""What holds for each file by itself."""

import re

from .source_tree import CPP_SUFFIXES, SourceFile, SourceTree, Violation

SPDX = "SPDX-License-Identifier: Apache-2.0"
LINES = 500
LONG_FILES = ("src/driver/functions.def", "sim/src/functions.def")
LAYERS = ("base", "driver", "handles", "model", "capture", "engines", "recapture", "render")
_TEST = r"\b(?:TYPED_)?TEST(?:_F|_P)?\s*\(|\bRC_GTEST_(?:FIXTURE_)?PROP|\bINSTANTIATE_T"
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


def check_test_files(tree: SourceTree) -> list[Violation]:
    """A file of tests is named as one, and lies where the build looks for it."""
    found = []
    for file in tree.cpp_files(*TEST_FOLDERS):
        has_test = re.search(_TEST, file.code) is not None
        if file.path.endswith(".cpp") and has_test != file.path.endswith("_test.cpp"):
            text = "a file with tests, and only such a file, is named _test.cpp"
            found.append(file.violation(1, text))
        if file.is_under("tests/unit") and file.path.split("/")[2] not in LAYERS:
            found.append(file.violation(1, "only folders of layers are built in tests/unit"))
    return found


CHECKS = (check_licence, check_length, check_test_files)

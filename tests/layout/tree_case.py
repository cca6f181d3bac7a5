# SPDX-License-Identifier: Apache-2.0
"""Small trees to try the rules on."""

import pathlib
import tempfile
import unittest

from layout.source_tree import SourceTree


class TreeCase(unittest.TestCase):
    """A test case that asks a check about a tree written for it."""

    def found(self, check, files: dict[str, str]) -> list[str]:
        """What `check` finds in a tree of `files`, as it would be printed."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            return [str(violation) for violation in check(SourceTree(root))]

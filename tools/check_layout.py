#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the structure of the source tree; prints each place that breaks a rule.

The rules are in tools/layout/, their own tests in tests/layout/.
"""

import argparse
import pathlib
import sys

from layout import document_rules, file_rules, include_rules, owner_rules, tested_rules
from layout.source_tree import SourceTree, Violation

CHECKS = (
    *include_rules.CHECKS,
    *owner_rules.CHECKS,
    *file_rules.CHECKS,
    *document_rules.CHECKS,
    *tested_rules.CHECKS,
)


def check(root: pathlib.Path) -> list[Violation]:
    tree = SourceTree(root)
    return sorted({violation for one in CHECKS for violation in one(tree)})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("root", type=pathlib.Path, nargs="?", default=here.parent)
    violations = check(parser.parse_args().root)
    for violation in violations:
        print(violation)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())

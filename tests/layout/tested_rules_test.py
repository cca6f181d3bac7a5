# SPDX-License-Identifier: Apache-2.0
"""The rule on what is tested finds rules without a case and cases that are not there."""

import unittest

from layout import tested_rules
from tree_case import TreeCase

RULES = "# Rules\n\n## 2.1 States\n\n- A `stream` is idle.\n"
FACTS = """# Facts

## Order

| a | b |
| --- | --- |
| one | two |

## Cost per step (ns)

- 3
"""
CASES = """TEST_F(Rules, R2_1_Idle) {}
TEST_F(Rules, R3_Other) {}
TEST_F(Facts, OneIsTwo) {}
"""
HEAD = "| line | begins | cases |\n| --- | --- | --- |\n"


def tree(rule: str, fact: str) -> dict[str, str]:
    return {
        tested_rules.RULES: RULES,
        tested_rules.FACTS: FACTS,
        tested_rules.MAP: f"## 2.1 States\n\n{HEAD}{rule}\n\n## Order\n\n{HEAD}{fact}\n",
        "tests/sim/a_test.cpp": CASES,
    }


class TestedTest(TreeCase):
    RULE = "| 1 | A stream is | `Rules.R2_1_Idle` |"
    FACT = "| 1 | one / two | `Facts.OneIsTwo` |"

    def check(self, rule: str, fact: str) -> list[str]:
        return self.found(tested_rules.check_tested, tree(rule, fact))

    def test_all_tested(self):
        self.assertEqual(self.check(self.RULE, self.FACT), [])

    def test_all_lines_of_a_section(self):
        self.assertEqual(self.check("| all | | `Rules.R2_1_Idle` |", self.FACT), [])

    def test_no_entry(self):
        missing = "docs/driver/tested.md has no entry for line 1 of"
        self.assertEqual(
            self.check("", ""),
            [
                f"docs/driver/rules.md:1: {missing} '2.1 States': A stream is idle.",
                f"docs/driver/facts.md:1: {missing} 'Order': one / two",
            ],
        )

    def test_another_text(self):
        self.assertEqual(len(self.check(self.RULE.replace("A stream", "An event"), self.FACT)), 1)

    def test_no_such_case(self):
        fact = self.FACT.replace("OneIsTwo", "OneIsThree")
        self.assertEqual(
            self.check(self.RULE, fact),
            ["docs/driver/tested.md:11: there is no case Facts.OneIsThree"],
        )

    def test_a_case_of_another_part(self):
        rule = self.RULE.replace("R2_1_Idle", "R3_Other")
        self.assertEqual(
            self.check(rule, self.FACT),
            ["docs/driver/tested.md:5: no case has the number 2 in its name"],
        )

    def test_a_reason(self):
        self.assertEqual(self.check("| 1 | A stream is | none: nobody can tell |", self.FACT), [])
        self.assertEqual(
            self.check("| 1 | A stream is | |", self.FACT),
            ["docs/driver/tested.md:5: neither a case nor a reason"],
        )


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Each rule and each fact about the driver has a case that tests it, or a reason why not."""

import dataclasses
import re

from .source_tree import SourceFile, SourceTree, Violation

MAP = "docs/driver/tested.md"
RULES = "docs/driver/rules.md"
FACTS = "docs/driver/facts.md"
# Sections without lines that a driver could break: tables of names, what follows from other
# sections, what is open, and figures.
NOT_TESTED = (
    *(f"{letter}. " for letter in "ABCDEFGHIJKLMN"),
    *("3.2 ", "3.3 ", "10. ", "11. "),
    *("Cost per step ", "What comparing at the call ", "Whole-graph update against patching "),
)

_HEADING = re.compile(r"#{2,4} (.+)")
_LINE = re.compile(r"(?:- |\d+\. |\| )(.+)")
_RULER = re.compile(r"\|[-| ]+\|")
_PART = re.compile(r"(\d+)\.?\d* ")
_ROW = re.compile(
    r"\| (?P<number>\d+|all) \|(?P<begin>[^|]*)\|(?P<cases>(?: none: (?P<reason>[^|]+)|[^|]*))\|"
)
_CASE = re.compile(r"`(\w+\.\w+)`")
_TEST = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Line:
    """A rule or a fact: an item of a list or a row of a table."""

    section: str
    number: int
    text: str

    @property
    def can_be_tested(self) -> bool:
        return not self.section.startswith(NOT_TESTED)


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"[`*]", "", text).replace("|", "/")).strip(" /")


def _lines_of(file: SourceFile) -> list[Line]:
    found: list[Line] = []
    section, number = "", 0
    texts = file.text.splitlines()
    for text, after in zip(texts, [*texts[1:], ""], strict=True):
        if heading := _HEADING.fullmatch(text):
            section, number = heading[1], 0
        elif not any(map(_RULER.fullmatch, (text, after))) and (match := _LINE.match(text)):
            number += 1
            found.append(Line(section, number, _plain(match[1])))
    return found


@dataclasses.dataclass(frozen=True)
class Entry:
    """A row of the map."""

    at: int
    number: str
    begin: str
    cases: tuple[str, ...]
    reason: str


def _entries(file: SourceFile) -> dict[str, list[Entry]]:
    """The rows of the map by their section."""
    found: dict[str, list[Entry]] = {}
    section = ""
    for at, text in enumerate(file.text.splitlines(), 1):
        if heading := _HEADING.fullmatch(text):
            section = heading[1]
        if row := _ROW.fullmatch(text):
            cases = tuple(_CASE.findall(row["cases"]))
            entry = Entry(at, row["number"], row["begin"].strip(), cases, row["reason"] or "")
            found.setdefault(section, []).append(entry)
    return found


def _is_about(row: Entry, line: Line) -> bool:
    same_text = row.begin != "" and line.text.startswith(row.begin)
    return row.number == "all" or (row.number == str(line.number) and same_text)


def _missing(document: SourceFile, lines: list[Line], entries: dict[str, list[Entry]]):
    for line in filter(lambda each: each.can_be_tested, lines):
        if not any(_is_about(row, line) for row in entries.get(line.section, [])):
            where = f"line {line.number} of '{line.section}'"
            yield document.violation(1, f"{MAP} has no entry for {where}: {line.text[:50]}")


def _wrong(map_file: SourceFile, section: str, row: Entry, cases: set[str]):
    if not row.cases and not row.reason:
        yield map_file.violation(row.at, "neither a case nor a reason")
    for case in row.cases:
        if case not in cases:
            yield map_file.violation(row.at, f"there is no case {case}")
    part = _PART.match(section)
    numbered = rf"[._]R{part[1]}_" if part and part[1] != "3" else r"[._]R\d+_"
    if part and row.cases and not any(re.search(numbered, case) for case in row.cases):
        yield map_file.violation(row.at, f"no case has the number {part[1]} in its name")


def check_tested(tree: SourceTree) -> list[Violation]:
    """The map names every rule and fact, and cases that exist."""
    if MAP not in tree.files:
        return []
    map_file = tree.files[MAP]
    entries = _entries(map_file)
    cases = {
        f"{match[1]}.{match[2]}"
        for file in tree.files.values()
        if file.is_under("tests/sim")
        for match in _TEST.finditer(file.text)
    }
    found = []
    for path in (RULES, FACTS):
        document = tree.files[path]
        found += _missing(document, _lines_of(document), entries)
    for section, rows in entries.items():
        for row in rows:
            found += _wrong(map_file, section, row, cases)
    return found


CHECKS = (check_tested,)

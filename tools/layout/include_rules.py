# SPDX-License-Identifier: Apache-2.0
"""Who may include whom."""

import collections
import re

from .source_tree import INCLUDE_ROOTS, SourceFile, SourceTree, Violation

# Each row may include its columns. A row is the longest folder that a file lies under; a column is
# a folder, or one file of it.
PUBLIC = "include/cugraft"
SIM_CONTROL = "sim/include/cugraft_sim"
SUPPORT = "tests/support"
NATIVE = ("include/cugraft/native.hpp", "src/driver/functions.def", "src/driver/newer_types.hpp")
LIBRARY = (
    "src/base",
    "src/driver",
    "src/handles",
    "src/model",
    "src/capture",
    "src/engines",
    "src/recapture",
    "src/render",
)
ALLOWED: dict[str, tuple[str, ...]] = {
    PUBLIC: (PUBLIC,),
    "src/base": (PUBLIC, "src/base"),
    "src/driver": (PUBLIC, "src/base", "src/driver"),
    "src/handles": (PUBLIC, "src/base", "src/driver", "src/handles"),
    "src/model": (PUBLIC, "src/base", "src/model"),
    "src/capture": (PUBLIC, "src/base", "src/driver", "src/handles", "src/model", "src/capture"),
    "src/engines": (
        PUBLIC,
        "src/base",
        "src/driver",
        "src/handles",
        "src/model",
        "src/capture",
        "src/engines",
    ),
    "src/recapture": (
        PUBLIC,
        "src/base",
        "src/handles",
        "src/model",
        "src/capture",
        "src/engines",
        "src/recapture",
    ),
    "src/render": (PUBLIC, "src/base", "src/model", "src/render"),
    SIM_CONTROL: (SIM_CONTROL,),
    "sim/src": (*NATIVE, SIM_CONTROL, "sim/src"),
    "python/src": (PUBLIC, "python/src"),
    "cli": (PUBLIC, "cli"),
    "examples": (PUBLIC,),
    "bench": (PUBLIC, SIM_CONTROL, SUPPORT, "bench"),
    "bench/simulator": (*NATIVE, "sim/src", "bench/simulator"),
    SUPPORT: (PUBLIC, SIM_CONTROL, SUPPORT),
    "tests/unit": (PUBLIC, *LIBRARY, SIM_CONTROL, SUPPORT, "tests/unit"),
    "tests/contract": (PUBLIC, SIM_CONTROL, SUPPORT, "tests/contract"),
    "tests/gpu": (PUBLIC, SIM_CONTROL, SUPPORT, "tests/gpu"),
    "tests/sim": (*NATIVE, SIM_CONTROL, SUPPORT, "sim/src", "tests/sim"),
    "tests/relay": (*NATIVE, SIM_CONTROL, "sim/src", "tests/relay"),
    "tests/package": (PUBLIC,),
    "tests/tool": (),
}

ENGINES = ("native", "compare", "direct")


def row_of(path: str) -> str | None:
    rows = [row for row in ALLOWED if path.startswith(row + "/")]
    return max(rows, key=len, default=None)


def engine_of(path: str) -> str | None:
    """The engine that a file under src/engines belongs to; none for what the engines share."""
    match = re.match(r"src/engines/([a-z]+)", path)
    return match.group(1) if match and match.group(1) in ENGINES else None


def is_registry(path: str) -> bool:
    return path.startswith("src/engines/registry.")


def check_table(tree: SourceTree) -> list[Violation]:
    """Every include of a file of ours is one that the table allows."""
    found = []
    for file in tree.cpp_files():
        row = row_of(file.path)
        if row is None:
            found.append(file.violation(1, "lies in no folder of the include table"))
            continue
        for include in file.includes:
            if include.target is None:
                continue
            columns = ALLOWED[row]
            if not any(include.target == c or include.target.startswith(c + "/") for c in columns):
                found.append(
                    file.violation(include.line, f"{row} may not include {include.target}")
                )
    return found


def check_engines(tree: SourceTree) -> list[Violation]:
    """Engines do not see each other, and nobody above them sees past the registry."""
    found = []
    for file in tree.cpp_files("src/engines", "src/recapture"):
        if is_registry(file.path):
            continue
        for include in file.includes:
            engine = engine_of(include.target or "")
            if engine is not None and engine != engine_of(file.path):
                found.append(
                    file.violation(
                        include.line,
                        f"only the engine {engine} and the registry may include "
                        f"{include.target}",
                    )
                )
    return found


def check_form(tree: SourceTree) -> list[Violation]:
    """Ours are quoted and written from a root, the rest stands in angle brackets."""
    found = []
    for file in tree.cpp_files():
        for include in file.includes:
            if ".." in include.name.split("/"):
                found.append(file.violation(include.line, "an include must not be written with .."))
            elif include.quoted and include.target is None:
                found.append(
                    file.violation(
                        include.line, f'"{include.name}" is no file below an include root'
                    )
                )
            elif not include.quoted and include.target is not None:
                found.append(
                    file.violation(
                        include.line, f"<{include.name}> is a file of ours: write it in quotes"
                    )
                )
    return found


def check_unique(tree: SourceTree) -> list[Violation]:
    """One include path means one file, whichever root a compiler looks under first."""
    first: dict[str, str] = {}
    found = []
    for file in tree.cpp_files():
        for root in INCLUDE_ROOTS:
            if file.path.endswith(".cpp") or not file.is_under(root):
                continue
            name = file.path[len(root) + 1 :]
            if first.setdefault(name, file.path) != file.path:
                found.append(file.violation(1, f'"{name}" is also {first[name]}'))
    return found


def folder_of(file: str) -> str:
    return file.rsplit("/", 1)[0]


def _folder_edges(files: list[SourceFile]) -> dict[str, dict[str, str]]:
    """From each folder to the folders that it includes, with one include as the example."""
    edges: dict[str, dict[str, str]] = collections.defaultdict(dict)
    for file in files:
        for include in file.includes:
            if include.target is None or folder_of(include.target) == folder_of(file.path):
                continue
            edges[folder_of(file.path)].setdefault(
                folder_of(include.target), f"{file.path}:{include.line}"
            )
    return edges


def check_cycles(tree: SourceTree) -> list[Violation]:
    """No folder of the library or the simulator reaches itself over others.

    A folder and the one below it count as one, as do the public headers and their details.
    """
    edges = _folder_edges(tree.cpp_files("src", "sim/src"))
    found = []
    for start in sorted(edges):
        path = _way_back(edges, start)
        if path and start == min(path):
            place, line = edges[start][path[1]].rsplit(":", 1)
            found.append(Violation(place, int(line), "folders in a cycle: " + " -> ".join(path)))
    return found


def _related(one: str, other: str) -> bool:
    return (one + "/").startswith(other + "/") or (other + "/").startswith(one + "/")


def _way_back(edges: dict[str, dict[str, str]], start: str) -> list[str]:
    """The shortest way from `start` to itself, both ends named; empty if there is none."""
    ways = collections.deque([[start]])
    seen = set()
    while ways:
        way = ways.popleft()
        for target in sorted(edges.get(way[-1], {})):
            if target == start:
                return [*way, start]
            if target not in seen and not _related(way[-1], target):
                seen.add(target)
                ways.append([*way, target])
    return []


CHECKS = (check_table, check_engines, check_form, check_unique, check_cycles)

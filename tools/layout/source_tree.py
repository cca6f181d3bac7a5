# SPDX-License-Identifier: Apache-2.0
"""The source files of a tree, read once, with what the rules ask of them."""

import dataclasses
import functools
import os
import pathlib
import re

# Where an include path may start, in the order in which a file of the project is looked up.
INCLUDE_ROOTS = ("include", "sim/include", "sim/src", "src", "tests", "cli", "bench", "python/src")
TOP_FOLDERS = (
    "include",
    "src",
    "sim",
    "cli",
    "python",
    "examples",
    "bench",
    "tests",
    "docs",
    "tools",
    "cmake",
    ".ci",
)
CPP_SUFFIXES = (".cpp", ".hpp", ".def", ".cu", ".cuh", ".h")
SCRIPT_SUFFIXES = (".py", ".sh", ".cmake", ".in", ".toml", ".yml", ".yaml")

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)
_NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL,
)


@dataclasses.dataclass(frozen=True, order=True)
class Violation:
    """One place that breaks a rule."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


@dataclasses.dataclass(frozen=True)
class Include:
    """One include line; `target` is the file of the tree that it means, if it means one."""

    line: int
    quoted: bool
    name: str
    target: str | None


class SourceFile:
    """One file; its path is relative to the tree, with forward slashes."""

    def __init__(self, tree: "SourceTree", path: str, text: str):
        self._tree = tree
        self.path = path
        self.text = text

    @property
    def is_cpp(self) -> bool:
        return self.path.endswith(CPP_SUFFIXES)

    def is_under(self, *folders: str) -> bool:
        return any(self.path.startswith(folder + "/") for folder in folders)

    @functools.cached_property
    def code(self) -> str:
        """The text without comments and literals; every line keeps its number."""

        def blank(match: re.Match[str]) -> str:
            return "\n" * match.group().count("\n") or " "

        return _NOT_CODE.sub(blank, self.text)

    @functools.cached_property
    def includes(self) -> list[Include]:
        return [
            Include(
                self.line_of(match.start(2)),
                match.group(1) == '"',
                match.group(2),
                self._tree.resolve(match.group(2)),
            )
            for match in _INCLUDE.finditer(self.text)
        ]

    def line_of(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    def find(self, pattern: str, code_only: bool = True, flags: int = 0) -> list[tuple[int, str]]:
        """Line and text of each match of `pattern`."""
        text = self.code if code_only else self.text
        return [
            (text.count("\n", 0, match.start()) + 1, match.group())
            for match in re.finditer(pattern, text, flags | re.MULTILINE)
        ]

    def violation(self, line: int, text: str) -> Violation:
        return Violation(self.path, line, text)


class SourceTree:
    """All source, script and documentation files below `root`."""

    def __init__(self, root: pathlib.Path):
        self.root = root
        self.files: dict[str, SourceFile] = {}
        for path in sorted(self._paths()):
            text = (root / path).read_text(encoding="utf-8")
            self.files[path] = SourceFile(self, path, text)

    def _paths(self):
        for entry in sorted(self.root.iterdir()):
            if entry.is_file() and self._is_read(entry.name):
                yield entry.name
        for top in TOP_FOLDERS:
            for folder, subfolders, names in os.walk(self.root / top):
                subfolders[:] = [name for name in subfolders if name != "__pycache__"]
                for name in names:
                    path = pathlib.Path(folder, name).relative_to(self.root).as_posix()
                    if self._is_read(path):
                        yield path

    @staticmethod
    def _is_read(path: str) -> bool:
        name = path.rsplit("/", 1)[-1]
        return (
            path.endswith(CPP_SUFFIXES + SCRIPT_SUFFIXES + (".md",))
            or name in ("CMakeLists.txt", "Makefile", ".clang-format", ".clang-tidy")
            or path.startswith(".ci/")
        )

    def resolve(self, name: str) -> str | None:
        """The file that `#include "name"` means, as a path of the tree."""
        for root in INCLUDE_ROOTS:
            path = f"{root}/{name}"
            if path in self.files:
                return path
        return None

    def exists(self, path: str) -> bool:
        return (self.root / path).exists()

    def cpp_files(self, *folders: str) -> list[SourceFile]:
        """The C++ files, or those under any of `folders`."""
        return [
            file
            for file in self.files.values()
            if file.is_cpp and (not folders or file.is_under(*folders))
        ]

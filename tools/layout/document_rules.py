# SPDX-License-Identifier: Apache-2.0
"""Documents name what there is."""

import functools
import re

from .source_tree import TOP_FOLDERS, SourceFile, SourceTree, Violation

_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_QUALIFIED = re.compile(r"\bcugraft::([\w:]+)")
_CALL = re.compile(r"(?:[\w:]+(?:\.|->|::))?(~?[a-z_]\w*)\(.*\)")
_SETTING = re.compile(r"\bCUGRAFT_[A-Z0-9_]+\b")
_PATH = re.compile(r"[\w.+-]+(?:/[\w.+-]+)+/?")
_BUILT = ("build/", "bin/", "lib/")


class Names:
    """The identifiers of a tree, each set read once."""

    def __init__(self, tree: SourceTree):
        self._tree = tree

    def _words(self, *folders: str) -> set[str]:
        return {
            word
            for file in self._tree.cpp_files(*folders)
            for _, word in file.find(r"\b[A-Za-z_]\w*\b")
        }

    @functools.cached_property
    def public(self) -> set[str]:
        return self._words("include")

    @functools.cached_property
    def declared(self) -> set[str]:
        """What a document may show as a call: the library, the simulator's control, scripts."""
        scripts = {
            word
            for file in self._tree.files.values()
            if file.path.endswith(".py")
            for _, word in file.find(r"(?<=def )\w+", code_only=False)
        }
        cmake = {
            word
            for file in self._tree.files.values()
            if file.path.endswith((".cmake", "CMakeLists.txt"))
            for _, word in file.find(r"(?<=function\()\w+", code_only=False)
        }
        return self._words("include", "src", "sim", "cli", "tests", "python/src") | scripts | cmake

    @functools.cached_property
    def settings(self) -> set[str]:
        """Macros, build options and environment variables."""
        return {
            word
            for file in self._tree.files.values()
            if not file.path.endswith(".md")
            for _, word in file.find(_SETTING.pattern, code_only=False)
        }


def _places(file: SourceFile, pattern: re.Pattern[str]) -> list[tuple[int, str]]:
    return [
        (file.line_of(match.start()), match.group(1) if pattern.groups else match.group())
        for match in pattern.finditer(file.text)
    ]


def _qualified(file: SourceFile, names: Names) -> list[Violation]:
    found = []
    for line, qualified in _places(file, _QUALIFIED):
        for part in qualified.strip(":").split("::"):
            if part not in names.public and qualified != "cugraft":
                found.append(file.violation(line, f"no public header names cugraft::{qualified}"))
                break
    return found


def _calls(file: SourceFile, names: Names) -> list[Violation]:
    found = []
    for line, span in _places(file, _SPAN):
        match = _CALL.fullmatch(span)
        if not match or span.startswith("std::") or re.match(r"cu(da)?[A-Z]|_v\d", match.group(1)):
            continue
        if match.group(1).lstrip("~") not in names.declared:
            found.append(file.violation(line, f"`{span}`: there is no such function"))
    return found


def _settings(file: SourceFile, names: Names) -> list[Violation]:
    return [
        file.violation(line, f"{name} is read nowhere")
        for line, name in _places(file, _SETTING)
        if name not in names.settings and not name.endswith("_")
    ]


def _paths(file: SourceFile, tree: SourceTree) -> list[Violation]:
    found = []
    for line, span in _places(file, _SPAN):
        if not _PATH.fullmatch(span) or span.startswith(_BUILT):
            continue
        if span.split("/")[0] in TOP_FOLDERS and not tree.exists(span):
            found.append(file.violation(line, f"`{span}`: there is no such file"))
    return found


def check_documents(tree: SourceTree) -> list[Violation]:
    """Identifiers, settings and paths in documents exist."""
    names = Names(tree)
    found = []
    for file in tree.files.values():
        if file.path.endswith(".md"):
            found += _qualified(file, names) + _calls(file, names)
            found += _settings(file, names) + _paths(file, tree)
    return found


CHECKS = (check_documents,)

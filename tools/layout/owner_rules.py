# SPDX-License-Identifier: Apache-2.0
"""What only one place may name."""

import re

from .source_tree import SourceFile, SourceTree, Violation

CUDA_HEADER_OWNERS = ("src/driver/cuda_api.hpp", "sim/src/cuda_api.hpp", "bench/raw_driver.hpp")
# Programs as users write them, which have CUDA headers of their own.
USER_PROGRAMS = ("tests/package", "examples")
LOADER = "src/driver/loader.cpp"
MACRO_OWNERS = ("include/cugraft/version.hpp", "include/cugraft/detail/export.hpp")
# An assertion of the tests must be a macro, to know the line that failed.
ASSERTION_PREFIXES = ("EXPECT_", "ASSERT_")


def _includes_of(file: SourceFile, names: tuple[str, ...]) -> list[tuple[int, str]]:
    return [
        (include.line, include.name) for include in file.includes if include.name.startswith(names)
    ]


def check_cuda_header(tree: SourceTree) -> list[Violation]:
    """<cuda.h> and its version are named in one header each of library, simulator, benchmarks."""
    found = []
    for file in tree.cpp_files():
        if file.path in CUDA_HEADER_OWNERS or file.is_under(*USER_PROGRAMS):
            continue
        named = _includes_of(file, ("cuda.h", "cuda_runtime", "driver_types.h", "cudaTypedefs.h"))
        for line, name in named + file.find(r"\bCUDA_VERSION\b"):
            found.append(
                file.violation(line, f"{name} may be named in {', '.join(CUDA_HEADER_OWNERS)} only")
            )
    return found


def check_loader(tree: SourceTree) -> list[Violation]:
    """One file of the library loads shared libraries."""
    found = []
    for file in tree.cpp_files("include", "src", "cli", "python"):
        if file.path == LOADER:
            continue
        named = _includes_of(file, ("dlfcn.h", "link.h"))
        for line, name in named + file.find(r"\bdl(?:open|m?open|sym|vsym|addr|close)\b"):
            found.append(file.violation(line, f"{name} may be named in {LOADER} only"))
    return found


def check_raw_calls(tree: SourceTree) -> list[Violation]:
    """Every call of a driver function goes through the table."""
    return [
        file.violation(line, f"raw driver call {text.rstrip('( ')}: go through the driver table")
        for file in tree.cpp_files("include", "src", "cli", "python")
        for line, text in file.find(r"\bcu[A-Z]\w*\s*\(")
    ]


def check_python(tree: SourceTree) -> list[Violation]:
    """Only the binding knows of Python."""
    return [
        file.violation(line, f"<{name}> may be included under python/src only")
        for file in tree.cpp_files()
        if not file.is_under("python/src")
        for line, name in _includes_of(file, ("Python.h", "nanobind", "pybind11"))
    ]


def check_simulator(tree: SourceTree) -> list[Violation]:
    """The library does not know that there is a simulator, not even in a comment."""
    words = r"\bsim\b|simulat|cugraft_sim"
    return [
        file.violation(line, f"'{text}': the library must not mention the simulator")
        for file in tree.files.values()
        if file.is_under("include", "src", "python") and not file.path.endswith("CMakeLists.txt")
        for line, text in file.find(words, code_only=False, flags=re.IGNORECASE)
    ]


def check_streams(tree: SourceTree) -> list[Violation]:
    """A stand-in driver is loaded by programs with another standard library, whose streams' facets
    are one table with its own: with g++ 13 it crashed as it wrote a number."""
    names = ("iostream", "fstream", "ostream", "istream", "sstream", "iomanip", "locale")
    return [
        file.violation(line, f"<{name}>: the simulated driver uses no streams")
        for file in tree.cpp_files("sim")
        for line, name in _includes_of(file, names)
    ]


def check_public_includes(tree: SourceTree) -> list[Violation]:
    """A public header includes public headers and the standard library."""
    return [
        file.violation(
            include.line,
            f"<{include.name}>: a public header includes only the "
            "standard library and other public headers",
        )
        for file in tree.cpp_files("include")
        for include in file.includes
        if include.target is None and not re.fullmatch(r"[a-z_]+", include.name)
    ]


def _defined(file: SourceFile) -> list[tuple[int, str]]:
    return [(line, text.split()[-1]) for line, text in file.find(r"^[ \t]*#[ \t]*define[ \t]+\w+")]


def _undefined(tree: SourceTree, file: SourceFile) -> set[str]:
    """What `file` undefines itself, or the lists that it includes do."""
    lists = [
        tree.files[include.target]
        for include in file.includes
        if include.target and include.target.endswith(".def")
    ]
    return {
        text.split()[-1]
        for one in (file, *lists)
        for _, text in one.find(r"^[ \t]*#[ \t]*undef[ \t]+\w+")
    }


def check_macros(tree: SourceTree) -> list[Violation]:
    """Macros carry our prefix; outside the tests, only public ones outlive their file."""
    found = []
    for file in tree.cpp_files():
        if file.is_under(*USER_PROGRAMS):
            continue
        is_test = file.is_under("tests")
        undefined = _undefined(tree, file)
        for line, name in _defined(file):
            if is_test and name.startswith(ASSERTION_PREFIXES):
                continue
            if not name.startswith("CUGRAFT_"):
                found.append(file.violation(line, f"macro {name}: the prefix is CUGRAFT_"))
            elif not is_test and file.path not in MACRO_OWNERS and name not in undefined:
                found.append(file.violation(line, f"macro {name} is never undefined"))
    return found


CHECKS = (
    check_cuda_header,
    check_loader,
    check_raw_calls,
    check_python,
    check_simulator,
    check_streams,
    check_public_includes,
    check_macros,
)

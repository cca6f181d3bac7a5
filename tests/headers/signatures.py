# SPDX-License-Identifier: Apache-2.0
"""The function list as assertions that a compiler can check against the headers of NVIDIA."""

import dataclasses
import pathlib
import re

_FUNCTION = re.compile(
    r'^CUGRAFT_DRIVER_FUNCTION\((\w+), "(\w+)", (\d+), (\w+), "(\w+)", (\(.*\))\)$', re.MULTILINE
)


@dataclasses.dataclass(frozen=True)
class Function:
    """One line of functions.def."""

    name: str
    version: int
    symbol: str
    parameters: str
    need: str = "required"

    def is_plain_in(self, header: str) -> bool:
        """Whether the header's plain name of the function is this form of it."""
        plain = rf"^#define {self.name}\s+{self.symbol}$"
        return re.search(plain, header, re.MULTILINE) is not None

    @property
    def has_types_of_ours(self) -> bool:
        """Whether a type stands in for NVIDIA's; cuda_api.hpp has the assertions on those."""
        return "cugraft::" in self.parameters


def read_functions(text: str) -> list[Function]:
    """All functions of the list; a line that does not read is an error."""
    functions = [
        Function(match[2], int(match[3]), match[5], match[6], match[4])
        for match in _FUNCTION.finditer(text)
    ]
    if len(functions) != len(re.findall(r"^CUGRAFT_DRIVER_FUNCTION\(", text, re.MULTILINE)):
        raise ValueError("functions.def has a line of another form")
    return functions


def header_version(header: pathlib.Path) -> int:
    """CUDA_VERSION of a cuda.h."""
    text = header.read_text(encoding="utf-8", errors="replace")
    return int(re.search(r"^#define CUDA_VERSION (\d+)", text, re.MULTILINE)[1])


def assertions(functions: list[Function], header: pathlib.Path) -> str:
    """A source file that compiles if `functions` are what `header` declares.

    A function that is newer than the header is left out; one that is not must be declared there,
    unless it is an `earlier` form that the header has replaced.
    """
    version = header_version(header)
    text = header.read_text(encoding="utf-8", errors="replace")
    lines = ['#include "driver/cuda_api.hpp"', "#include <type_traits>"]
    for one in functions:
        if one.version > version or (one.need == "earlier" and not one.is_plain_in(text)):
            continue
        check = f"std::is_same_v<decltype(&::{one.symbol}), CUresult (*){one.parameters}>"
        if one.has_types_of_ours:
            check = f"std::is_function_v<decltype(::{one.symbol})>"
        lines.append(f'static_assert({check}, "{one.symbol}");')
    return "\n".join(lines) + "\n"

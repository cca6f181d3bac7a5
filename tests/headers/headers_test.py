# SPDX-License-Identifier: Apache-2.0
"""Compiles what sees <cuda.h>, and the function list as assertions, against one set of headers."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import fetch_cuda_headers
import signatures

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77


def compile_one(compiler: str, include: pathlib.Path, source: pathlib.Path) -> bool:
    command = [
        compiler,
        "-std=c++20",
        "-fsyntax-only",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-DCUGRAFT_BUILDING",
        f"-I{ROOT / 'include'}",
        f"-I{ROOT / 'src'}",
        "-isystem",
        str(include),
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(" ".join(command), done.stderr, sep="\n")
    return done.returncode == 0


def toolkit_include() -> pathlib.Path | None:
    """As cmake/CudaHeaders.cmake looks for it."""
    names = ("CUDAToolkit_ROOT", "CUDA_HOME", "CUDA_PATH")
    roots = [os.environ[name] for name in names if name in os.environ] + ["/usr/local/cuda"]
    folders = [pathlib.Path(root, "include") for root in roots]
    return next((folder for folder in folders if (folder / "cuda.h").exists()), None)


def find_include(headers: str, build: pathlib.Path) -> pathlib.Path | None:
    if headers == "toolkit":
        return toolkit_include()
    include = fetch_cuda_headers.fetch(headers, build / "cuda-headers")
    found = signatures.header_version(include / "cuda.h")
    major, minor = (int(part) for part in headers.split("."))
    if found != 1000 * major + 10 * minor:
        raise SystemExit(f"the package for {headers} has a cuda.h of version {found}")
    return include


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("headers", help="'toolkit' or a version")
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    include = find_include(arguments.headers, arguments.build)
    if include is None:
        print("skipped: no CUDA toolkit here")
        return SKIPPED
    functions = [
        function
        for each in ("src/driver/functions.def", "sim/src/functions.def")
        for function in signatures.read_functions((ROOT / each).read_text())
    ]
    with tempfile.TemporaryDirectory() as folder:
        assertions = pathlib.Path(folder, "signatures.cpp")
        assertions.write_text(signatures.assertions(functions, include / "cuda.h"))
        sources = [assertions, *sorted((ROOT / "src/driver").glob("*.cpp"))]
        compiled = [compile_one(arguments.compiler, include, source) for source in sources]
    print(f"{sum(compiled)} of {len(compiled)} files compile with {include}")
    return 0 if all(compiled) else 1


if __name__ == "__main__":
    sys.exit(main())

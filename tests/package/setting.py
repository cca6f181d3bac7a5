# SPDX-License-Identifier: Apache-2.0
"""What the package tests are given by the build, and how they run other programs."""

import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CMAKE = os.environ.get("CMAKE", "cmake")
COMPILER = os.environ.get("CXX", "c++")
CUDA_INCLUDE = os.environ["CUDA_INCLUDE"]
# Where `cmake --install` of this build went, and where the tests may write.
PREFIX = pathlib.Path(os.environ["PREFIX"])
WORK = pathlib.Path(os.environ["WORK"])


def run(*command, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs `command` to its end; `variables` are added to the environment."""
    return subprocess.run(
        [str(word) for word in command],
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **variables},
    )


def installed(name: str, prefix: pathlib.Path = PREFIX) -> pathlib.Path:
    """The one file called `name` below `prefix`; the folder of libraries differs by system."""
    found = [path for path in prefix.rglob(name)]
    if len(found) != 1:
        raise FileNotFoundError(f"{name} below {prefix}: {found}")
    return found[0]

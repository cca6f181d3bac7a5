#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fetches the CUDA headers of one version from NVIDIA's packages on PyPI.

Prints the folder that holds cuda.h. A version that is there already is not fetched again.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import zipfile

PACKAGES = {
    "12.4": "nvidia-cuda-runtime-cu12==12.4.127",
    "12.9": "nvidia-cuda-runtime-cu12==12.9.79",
    "13.0": "nvidia-cuda-runtime==13.0.96",
    "13.3": "nvidia-cuda-runtime==13.3.29",
    "13.5": "nvidia-cuda-runtime==13.5.37",
}


class FetchError(Exception):
    """Says what stands in the way, as the user should read it."""


def find_include(folder: pathlib.Path) -> pathlib.Path | None:
    """The folder below `folder` that holds cuda.h; the packages differ in where it lies."""
    return next((path.parent for path in sorted(folder.rglob("cuda.h"))), None)


def download(requirement: str, folder: pathlib.Path) -> pathlib.Path:
    """Downloads the wheel of `requirement`; nothing is installed."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary=:all:", "--dest", str(folder), requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise FetchError(f"pip could not download {requirement}:\n{done.stderr.strip()}")
    return next(folder.glob("*.whl"))


def fetch(version: str, destination: pathlib.Path) -> pathlib.Path:
    """The include folder of `version` below `destination`, fetched if it is not there."""
    if version not in PACKAGES:
        raise FetchError(f"no package is known for {version}; known are {', '.join(PACKAGES)}")
    ready = destination / version
    if ready.is_dir() and (include := find_include(ready)):
        return include
    destination.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=destination) as temporary:
        folder = pathlib.Path(temporary)
        wheel = download(PACKAGES[version], folder)
        unpacked = folder / "unpacked"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(unpacked, [n for n in archive.namelist() if "/include/" in n])
        include = find_include(unpacked)
        if include is None:
            raise FetchError(f"{wheel.name} holds no cuda.h")
        # Renamed in one step, so that a fetch that was cut off leaves nothing half done; another
        # process may have been faster.
        try:
            unpacked.rename(ready)
        except OSError:
            if not ready.is_dir():
                raise
    return ready / include.relative_to(unpacked)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", help="such as 13.3")
    parser.add_argument("destination", type=pathlib.Path, help="where the versions are kept")
    arguments = parser.parse_args()
    try:
        print(fetch(arguments.version, arguments.destination.resolve()))
    except FetchError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Runs the tool, and the texts that more than one test expects."""

import atexit
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

TOOL = os.environ["CUGRAFT_TOOL"]
SIM_LIBRARY = os.path.realpath(os.environ["CUGRAFT_SIM_LIBRARY"])
IDLE_DRIVER = os.path.realpath(os.environ["CUGRAFT_IDLE_DRIVER"])

OK, FAILED, USAGE, UNSUPPORTED = range(4)


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs the tool to its end; `variables` are added to an environment without ours."""
    kept = {name: value for name, value in os.environ.items() if name not in _OURS}
    return subprocess.run(
        [TOOL, *arguments],
        check=False,
        text=True,
        capture_output=True,
        env={**kept, **variables},
    )


def run_json(*arguments: str, **variables: str) -> tuple[int, dict]:
    """Exit status and the one object that the tool printed."""
    done = run(*arguments, "--json", **variables)
    if done.stderr or not done.stdout:
        raise AssertionError(
            f"with --json there is one object on stdout and nothing on stderr; this was status "
            f"{done.returncode}, stdout {done.stdout!r}, stderr {done.stderr!r}"
        )
    return done.returncode, json.loads(done.stdout)


def without_system_driver() -> dict[str, str]:
    """Variables with which NVIDIA's driver library does not load, whether there is one or not."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    pathlib.Path(folder, "libcuda.so.1").write_text("no library", encoding="utf-8")
    return {"LD_LIBRARY_PATH": folder}


_OURS = {"CUGRAFT_DRIVER", "CUGRAFT_ENGINE", "CUGRAFT_LOG", "CUGRAFT_SIM_VERSION"}

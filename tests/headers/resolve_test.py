# SPDX-License-Identifier: Apache-2.0
"""cmake/CudaHeaders.cmake: a folder, a toolkit, a package from PyPI, and what it says without."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = f"""
cmake_minimum_required(VERSION 3.25)
project(resolve LANGUAGES NONE)
set(PROJECT_SOURCE_DIR {ROOT})
include({ROOT}/cmake/CudaHeaders.cmake)
"""


class ResolveTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        (self.folder / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")

    def toolkit(self, version: int) -> pathlib.Path:
        """A folder that looks like a toolkit."""
        include = self.folder / "toolkit" / "include"
        include.mkdir(parents=True)
        (include / "cuda.h").write_text(f"#define CUDA_VERSION {version}\n", encoding="utf-8")
        return include.parent

    def configure(self, *settings: str, **variables: str) -> tuple[int, str]:
        command = [
            os.environ.get("CMAKE", "cmake"),
            "-S",
            self.folder,
            "-B",
            self.folder / "build",
            *settings,
        ]
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, env={**os.environ, **variables}
        )
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    def test_a_folder(self):
        include = self.toolkit(13010) / "include"
        code, said = self.configure(f"-DCUGRAFT_CUDA_HEADERS={include}")
        self.assertEqual(code, 0, said)
        self.assertIn(f"cugraft: CUDA headers 13.1 from {include}", said)

    def test_a_toolkit_comes_before_the_package(self):
        root = self.toolkit(12080)
        for variable in ("CUDAToolkit_ROOT", "CUDA_HOME"):
            with self.subTest(variable=variable):
                others = {name: "" for name in ("CUDAToolkit_ROOT", "CUDA_HOME", "CUDA_PATH")}
                code, said = self.configure(**{**others, variable: str(root)})
                self.assertEqual(code, 0, said)
                self.assertIn(f"cugraft: CUDA headers 12.8 from {root}/include", said)

    def test_a_package(self):
        # The build that this test belongs to, so that the package is fetched once.
        build = pathlib.Path(os.environ.get("BUILD", self.folder))
        (self.folder / "build").mkdir()
        (self.folder / "build" / "cuda-headers").symlink_to(build / "cuda-headers")
        (build / "cuda-headers").mkdir(exist_ok=True)
        code, said = self.configure("-DCUGRAFT_CUDA_HEADERS=13.3")
        self.assertEqual(code, 0, said)
        self.assertIn("cugraft: CUDA headers 13.3 from ", said)

    def test_a_version_without_a_package(self):
        code, said = self.configure("-DCUGRAFT_CUDA_HEADERS=11.8")
        self.assertNotEqual(code, 0)
        self.assertIn("no package is known for 11.8; known are 12.4, 12.9, 13.0, 13.3, 13.5", said)

    def test_a_folder_without_the_header(self):
        code, said = self.configure(f"-DCUGRAFT_CUDA_HEADERS={self.folder}")
        self.assertNotEqual(code, 0)
        self.assertIn(f"CUGRAFT_CUDA_HEADERS={self.folder}: no cuda.h in '{self.folder}'", said)

    def test_too_old_a_header(self):
        include = self.toolkit(12030) / "include"
        code, said = self.configure(f"-DCUGRAFT_CUDA_HEADERS={include}")
        self.assertNotEqual(code, 0)
        self.assertIn(
            "cugraft needs CUDA headers 12.4 or newer, found 12.3; set "
            "CUGRAFT_CUDA_HEADERS to a newer version, such as 13.3",
            said,
        )


if __name__ == "__main__":
    unittest.main()

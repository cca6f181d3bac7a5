# SPDX-License-Identifier: Apache-2.0
"""Each example, built alone against the installed package and run on its simulated driver."""

import pathlib
import shutil
import unittest

import setting

VERSIONS = ("12.4", "13.0", "13.3")


def examples() -> list[pathlib.Path]:
    """The folders of those that need no CUDA toolkit."""
    folders = sorted((setting.ROOT / "examples").glob("[0-9][0-9]_*"))
    return [
        folder
        for folder in folders
        if (folder / "main.cpp").exists()
        and "#include <cuda" not in (folder / "main.cpp").read_text(encoding="utf-8")
    ]


class ExamplesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = setting.WORK / "examples"
        shutil.rmtree(cls.work, ignore_errors=True)
        cls.work.mkdir(parents=True)

    def test_each_builds_alone_and_runs(self):
        library = setting.installed("libcugraft.so")
        driver = setting.installed("libcugraft_sim.so")
        found = examples()
        self.assertGreaterEqual(len(found), 6)
        for folder in found:
            with self.subTest(example=folder.name):
                program = self.work / folder.name
                built = setting.run(
                    setting.COMPILER,
                    "-std=c++20",
                    "-Wall",
                    "-Wextra",
                    "-Werror",
                    f"-I{setting.PREFIX / 'include'}",
                    *sorted(folder.glob("*.cpp")),
                    library,
                    f"-Wl,-rpath,{library.parent}",
                    "-o",
                    program,
                )
                self.assertEqual(built.returncode, 0, built.stdout)
                for version in VERSIONS:
                    ran = setting.run(
                        program, CUGRAFT_DRIVER=str(driver), CUGRAFT_SIM_VERSION=version
                    )
                    self.assertEqual(ran.returncode, 0, ran.stdout)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Projects that use the package, built and run as their owners would."""

import shutil
import unittest

import setting


class ConsumersTest(unittest.TestCase):
    def succeeds(self, *command, **variables: str) -> str:
        done = setting.run(*command, **variables)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}")
        return done.stdout

    def build(self, name: str, *settings: str):
        """Builds one of the consumers from nothing; gives its build folder."""
        build = setting.WORK / name
        shutil.rmtree(build, ignore_errors=True)
        self.succeeds(
            setting.CMAKE,
            "-S",
            setting.HERE / name,
            "-B",
            build,
            "-G",
            "Ninja",
            f"-DCMAKE_CXX_COMPILER={setting.COMPILER}",
            "-DCMAKE_CXX_FLAGS=-O0",
            *settings,
        )
        self.succeeds(setting.CMAKE, "--build", build)
        return build

    def runs(self, build):
        """The consumer works with the installed simulated driver."""
        driver = setting.installed("libcugraft_sim.so")
        output = self.succeeds(build / "consumer", CUGRAFT_DRIVER=str(driver))
        self.assertIn("first difference at 1: copy vs fill", output)

    def test_find_package(self):
        self.runs(self.build("find_package", f"-DCMAKE_PREFIX_PATH={setting.PREFIX}"))

    def test_add_subdirectory_and_static(self):
        # The library is built once for both: as a subproject it is static, and may be installed.
        prefix = setting.WORK / "static-prefix"
        shutil.rmtree(prefix, ignore_errors=True)
        build = self.build(
            "add_subdirectory",
            f"-DCUGRAFT_SOURCE={setting.ROOT}",
            f"-DCUGRAFT_CUDA_HEADERS={setting.CUDA_INCLUDE}",
            "-DCUGRAFT_INSTALL=ON",
            "-DCMAKE_UNITY_BUILD=ON",
        )
        self.runs(build)
        self.succeeds(setting.CMAKE, "--install", build, "--prefix", prefix)
        self.runs(self.build("static", f"-DCMAKE_PREFIX_PATH={prefix}"))


class InstalledTest(unittest.TestCase):
    def test_the_tool_runs_from_another_place(self):
        """It finds its library and the simulated driver beside itself, wherever it was put."""
        moved = setting.WORK / "moved"
        shutil.rmtree(moved, ignore_errors=True)
        shutil.copytree(setting.PREFIX, moved, symlinks=True)
        done = setting.run(
            moved / "bin/cugraft",
            "demo",
            "--driver",
            "sim",
            "--layers",
            "1",
            "--steps",
            "2",
            "--json",
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r'"agree":\s*true')

    def exported(self, library: str) -> list[str]:
        done = setting.run("nm", "-DC", "--defined-only", setting.installed(library))
        self.assertEqual(done.returncode, 0, done.stdout)
        # Weak ones are instantiations of the standard library's templates, which every user has.
        symbols = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
        return [name for _, kind, name in symbols if kind not in "VWuw"]

    def test_the_library_shows_its_own_names_only(self):
        names = self.exported("libcugraft.so")
        self.assertTrue(any(name.startswith("cugraft::graph::recapture") for name in names))
        foreign = [name for name in names if not name.startswith("cugraft::")]
        self.assertEqual(foreign, [])

    def test_the_simulated_driver_shows_driver_functions_only(self):
        names = self.exported("libcugraft_sim.so")
        self.assertIn("cuGetProcAddress_v2", names)
        self.assertIn("cugraft_sim_control", names)
        foreign = [name for name in names if not name.startswith("cu") or "::" in name]
        self.assertEqual(foreign, [])


if __name__ == "__main__":
    unittest.main()

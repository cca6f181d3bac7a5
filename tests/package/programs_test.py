# SPDX-License-Identifier: Apache-2.0
"""The programs of the contract against the installed package, with the compiler in CXX."""

import concurrent.futures
import pathlib
import re
import shutil
import unittest

import setting

STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
# The programs are linked without a driver; this stands for what one of them calls there.
STAND_IN = 'extern "C" int cuModuleGetFunction() { return 1; }\n'


def compile_to(output: pathlib.Path, source: pathlib.Path, *flags: str):
    return setting.run(
        setting.COMPILER,
        "-std=c++20",
        "-fPIC",
        *flags,
        f"-I{setting.PREFIX / 'include'}",
        "-isystem",
        setting.CUDA_INCLUDE,
        "-c",
        source,
        "-o",
        output,
    )


def files(folder: str) -> list[pathlib.Path]:
    return sorted((setting.HERE / folder).glob("*.cpp"))


class ProgramsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = setting.WORK / f"programs-{pathlib.Path(setting.COMPILER).name}"
        shutil.rmtree(cls.work, ignore_errors=True)
        cls.work.mkdir(parents=True)

    def each(self, folder: str, check):
        """Runs `check` on every file of `folder`; a problem is a text, and its file is named."""
        sources = files(folder)
        self.assertGreater(len(sources), 5)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for source, problem in zip(sources, pool.map(check, sources), strict=True):
                with self.subTest(source=source.name):
                    self.assertEqual(problem, "")

    def test_each_compiles_without_a_warning_and_links(self):
        library = setting.installed("libcugraft.so")
        stand_in = self.work / "stand_in.cpp"
        stand_in.write_text(STAND_IN, encoding="utf-8")

        def check(source: pathlib.Path) -> str:
            output = self.work / f"{source.stem}.o"
            done = compile_to(output, source, *STRICT)
            if done.returncode != 0 or done.stdout:
                return done.stdout
            # Every name that a program uses must be in the library.
            done = setting.run(
                setting.COMPILER,
                "-shared",
                "-Wl,-z,defs",
                output,
                stand_in,
                library,
                "-o",
                self.work / f"{source.stem}.so",
            )
            return done.stdout

        self.each("programs", check)

    def test_each_is_refused_for_its_reason(self):
        def check(source: pathlib.Path) -> str:
            kind, reason = re.search(
                r"^// (refused|warned): (.*)$", source.read_text(), re.MULTILINE
            ).groups()
            output = self.work / f"{source.stem}.o"
            done = compile_to(output, source, "-Wall", "-fsyntax-only")
            if (done.returncode != 0) != (kind == "refused"):
                return f"the compiler gave {done.returncode}\n{done.stdout}"
            label = "error" if kind == "refused" else "warning"
            said = [line for line in done.stdout.splitlines() if f"{label}:" in line]
            return "" if any(re.search(reason, line) for line in said) else done.stdout

        self.each("refused", check)


if __name__ == "__main__":
    unittest.main()

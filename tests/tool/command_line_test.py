# SPDX-License-Identifier: Apache-2.0
"""Options, help, and what a wrong command line ends with."""

import unittest

import tool


class CommandLineTest(unittest.TestCase):
    def refused(self, sentence: str, *arguments: str):
        done = tool.run(*arguments)
        self.assertEqual(done.returncode, tool.USAGE)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr, f"cugraft: {sentence}\n")

    def test_help_names_every_subcommand(self):
        done = tool.run("--help")
        self.assertEqual(done.returncode, tool.OK)
        for line in (
            r"^  doctor +Says what this machine's driver can do",
            r"^  demo +Runs a decode loop",
            r"^  render +Draws a report or a graph",
            r"^  diff +Says which nodes of two graphs differ",
            r"^  rules +Lists what an executable can take",
            r"^  completion +Prints a script",
        ):
            self.assertRegex(done.stdout, f"(?m){line}")

    def test_help_of_the_demo_names_every_option(self):
        done = tool.run("demo", "--help")
        self.assertEqual(done.returncode, tool.OK)
        for option in ("driver", "sim-version", "engine", "layers", "steps", "json"):
            self.assertIn(f"  --{option} ", done.stdout)

    def test_version_is_three_numbers(self):
        done = tool.run("--version")
        self.assertEqual(done.returncode, tool.OK)
        self.assertRegex(done.stdout, r"^\d+\.\d+\.\d+\n$")

    def test_a_subcommand_is_needed(self):
        self.refused("A subcommand is required; see --help")

    def test_an_unknown_engine_is_refused(self):
        self.refused(
            "--engine: magic not in {automatic,compare,direct,native}; see --help",
            "demo",
            "--engine",
            "magic",
        )

    def test_an_unknown_version_of_the_simulated_driver_is_refused(self):
        self.refused(
            "--sim-version: 11.8 not in {12.4,12.8,13.0,13.2,13.3,13.5}; see --help",
            "demo",
            "--sim-version",
            "11.8",
        )

    def test_extents_out_of_range_are_refused(self):
        for option, greatest in (("--layers", 64), ("--steps", 1024)):
            self.refused(
                f"{option}: Value 0 not in range 1 to {greatest}; see --help", "demo", option, "0"
            )

    def test_the_systems_driver_takes_no_version(self):
        for command in ("demo", "doctor"):
            self.refused(
                "--sim-version: the system's driver has a version of its own; see --help",
                command,
                "--driver",
                "system",
                "--sim-version",
                "13.3",
            )


if __name__ == "__main__":
    unittest.main()

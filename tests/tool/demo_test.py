# SPDX-License-Identifier: Apache-2.0
"""The demo: results, figures, drivers, and what it says where it cannot run."""

import re
import unittest

import tool

NATIVE_NEEDS_NEWER = (
    "native re-capture needs a driver of CUDA 13.3 or newer; this one has {}: update the driver"
)
# A layer is 11 kernels, a copy and a fill; before them the token's copy, behind them 3 kernels.
LAYER_NODES, OTHER_NODES = 13, 4
# In each layer three kernels see the position, by argument or by grid; beside them the token's row
# and the last kernel.
LAYER_CHANGES, OTHER_CHANGES = 3, 2


class DemoTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.status, cls.result = tool.run_json("demo", "--driver", "sim", "--sim-version", "13.3")

    def test_the_three_ways_agree(self):
        self.assertIs(self.result["agree"], True)
        self.assertEqual(self.status, tool.OK)
        for step in self.result["step_results"]:
            self.assertEqual(step["differences"], [])

    def test_the_results_are_those_of_the_reference(self):
        self.assertLess(self.result["reference_error"], 1e-5)
        self.assertGreater(self.result["reference_error"], 0)  # floats are not doubles

    def test_the_results_have_the_bits_that_a_gpu_computed(self):
        # An H200 with a 13.0 driver gave the same state. Another loop or other weights change it.
        self.assertEqual(self.result["digest"], "524c4acef5f56c81")

    def test_it_says_where_it_ran(self):
        self.assertEqual(self.result["driver"], tool.SIM_LIBRARY)
        self.assertEqual(self.result["driver_version"], 13030)
        self.assertIs(self.result["simulated"], True)
        self.assertEqual(self.result["engine"], "native")

    def test_the_graph_has_the_nodes_of_the_loop(self):
        self.assertEqual(self.result["layers"], 3)
        self.assertEqual(self.result["steps"], 8)
        self.assertEqual(len(self.result["step_results"]), 8)
        self.assertEqual(self.result["nodes"], 3 * LAYER_NODES + OTHER_NODES)

    def test_every_step_but_the_first_changes_what_depends_on_the_position(self):
        changed = [step["report"]["nodes_changed"] for step in self.result["step_results"]]
        self.assertEqual(changed[0], 0)  # the loop was captured with the first step's values
        greatest = 3 * LAYER_CHANGES + OTHER_CHANGES
        for step, count in zip(self.result["step_results"][1:], changed[1:], strict=True):
            # The same token twice leaves the token's row as it was.
            self.assertIn(count, (greatest, greatest - 1), step["position"])
        self.assertEqual(self.result["nodes_changed"], sum(changed))
        self.assertEqual(self.result["nodes_patched"], sum(changed))

    def test_a_step_changes_an_argument_a_grid_and_a_pointer(self):
        step = self.result["step_results"][1]
        fields = {
            (change["name"], field["field"]): field
            for change in step["report"]["changes"]
            for field in change["fields"]
        }
        for kernel in ("append_to_cache", "attention_mix"):  # their last argument is the position
            field = fields[kernel, "argument[5]"]
            self.assertEqual(
                (field["before_bytes"], field["after_bytes"]), ("00000000", "01000000")
            )
        grid = fields["attention_scores", "grid"]
        self.assertEqual((grid["before"], grid["after"]), ("(1, 1, 1)", "(2, 1, 1)"))
        row = fields["probabilities", "argument[0]"]
        before, after = (
            int.from_bytes(bytes.fromhex(row[key]), "little")
            for key in ("before_bytes", "after_bytes")
        )
        self.assertEqual(after - before, 64 * 4)  # one row of floats further
        self.assertIn(("probabilities", "argument[3]"), fields)  # the temperature

    def test_each_way_was_timed(self):
        timings = self.result["timings"]
        self.assertIs(timings["simulated"], True)
        for way in ("eager", "whole_update", "cugraft"):
            self.assertGreater(timings[way]["prepare_ns"], 0)
            self.assertGreaterEqual(timings[way]["total_ns"], timings[way]["prepare_ns"])


class DemoTextTest(unittest.TestCase):
    def test_text_names_driver_changes_agreement_and_times(self):
        done = tool.run("demo", "--driver", "sim", "--layers", "2", "--steps", "3")
        self.assertEqual(done.returncode, tool.OK, done.stderr)
        self.assertIn(f"driver   {tool.SIM_LIBRARY} of version ", done.stdout)
        self.assertIn("step 0   token 1, temperature 0.75: nothing changed\n", done.stdout)
        # The two layers share a line.
        self.assertRegex(
            done.stdout,
            r"\n +append_to_cache at \d+ \(layer 0\), \d+ \(layer 1\)"
            r"\n +argument\[5\]: .*\(int 0.* -> .*\(int 1\)\n",
        )
        self.assertRegex(done.stdout, r"results  all three ways agree in each of \d+ elements")
        self.assertIn("times on the simulated driver are no claim about any GPU\n", done.stdout)

    def test_extents_are_as_asked(self):
        status, result = tool.run_json("demo", "--driver", "sim", "--layers", "1", "--steps", "2")
        self.assertEqual(status, tool.OK)
        self.assertEqual(result["nodes"], LAYER_NODES + OTHER_NODES)
        self.assertEqual(result["steps"], 2)

    def test_results_do_not_depend_on_the_engine_asked_for(self):
        tokens = []
        for engine in ("automatic", "native"):
            status, result = tool.run_json("demo", "--driver", "sim", "--engine", engine)
            self.assertEqual(status, tool.OK)
            tokens.append([step["token"] for step in result["step_results"]])
        self.assertEqual(tokens[0], tokens[1])


class DriverTest(unittest.TestCase):
    def test_without_a_driver_of_the_system_the_simulated_one_runs_and_says_so(self):
        status, result = tool.run_json("demo", "--steps", "1", **tool.without_system_driver())
        self.assertEqual(status, tool.OK)
        self.assertEqual(result["driver"], tool.SIM_LIBRARY)
        self.assertIs(result["simulated"], True)
        self.assertEqual(result["chosen_because"], "the system's is not usable")
        self.assertIn("libcuda.so.1", result["system_driver"])

    def test_the_driver_that_the_environment_names_is_the_one(self):
        status, result = tool.run_json("demo", "--steps", "1", CUGRAFT_DRIVER=tool.SIM_LIBRARY)
        self.assertEqual(status, tool.OK)
        self.assertEqual(result["driver"], tool.SIM_LIBRARY)
        self.assertIs(result["simulated"], True)
        self.assertEqual(result["chosen_because"], "CUGRAFT_DRIVER names it")

    def test_no_other_driver_stands_in_for_one_that_was_named(self):
        done = tool.run("demo", "--steps", "1", CUGRAFT_DRIVER="/dev/null")
        self.assertEqual(done.returncode, tool.FAILED)
        self.assertRegex(done.stderr, r"^cugraft: .*/dev/null cannot be loaded: .*\n$")

    def test_a_path_is_a_driver_like_any_other(self):
        status, result = tool.run_json("demo", "--driver", tool.SIM_LIBRARY, "--steps", "1")
        self.assertEqual(status, tool.OK)
        self.assertEqual(result["driver"], tool.SIM_LIBRARY)
        self.assertIs(result["simulated"], True)

    def test_a_driver_that_does_not_load_is_an_error_in_one_line(self):
        done = tool.run("demo", "--driver", "/nowhere/libcuda.so")
        self.assertEqual(done.returncode, tool.FAILED)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"^cugraft: .*/nowhere/libcuda\.so cannot be loaded: .*\n$")

    def test_a_driver_that_runs_no_graph_is_found_out(self):
        # By name, because automatic would find out that it does not work and leave native alone.
        status, result = tool.run_json(
            "demo", "--driver", tool.IDLE_DRIVER, "--engine", "native", "--steps", "1"
        )
        self.assertEqual(status, tool.FAILED)
        self.assertIs(result["agree"], False)
        ways = [difference["way"] for difference in result["step_results"][0]["differences"]]
        self.assertEqual(ways, ["whole_update", "cugraft"])
        self.assertGreater(result["step_results"][0]["differences"][0]["count"], 0)


class EngineTest(unittest.TestCase):
    def test_compare_and_direct_run_on_every_version(self):
        for engine in ("compare", "direct"):
            for version in ("12.4", "13.0", "13.3"):
                status, result = tool.run_json(
                    "demo", "--driver", "sim", "--sim-version", version, "--engine", engine
                )
                self.assertEqual(status, tool.OK)
                self.assertEqual(result["engine"], engine)
                self.assertIs(result["agree"], True)

    def test_automatic_takes_compare_where_there_is_no_native(self):
        status, result = tool.run_json("demo", "--driver", "sim", "--sim-version", "13.0")
        self.assertEqual(status, tool.OK)
        self.assertEqual(result["engine"], "compare")
        self.assertIs(result["agree"], True)


class OldDriverTest(unittest.TestCase):
    def test_native_says_what_it_needs_and_touches_nothing(self):
        for version in ("12.4", "13.2"):
            done = tool.run(
                "demo", "--driver", "sim", "--sim-version", version, "--engine", "native"
            )
            self.assertEqual(done.returncode, tool.UNSUPPORTED)
            self.assertEqual(done.stdout, "")
            self.assertTrue(
                done.stderr.startswith(f"cugraft: {NATIVE_NEEDS_NEWER.format(version)}"),
                done.stderr,
            )
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_json_has_the_sentence_and_its_parts(self):
        status, result = tool.run_json(
            "demo", "--driver", "sim", "--sim-version", "12.8", "--engine", "native"
        )
        self.assertEqual(status, tool.UNSUPPORTED)
        self.assertRegex(result["error"], "^" + re.escape(NATIVE_NEEDS_NEWER.format("12.8")))
        self.assertEqual(result["asked"], "native re-capture")
        self.assertEqual(result["required_version"], 13030)
        self.assertEqual(result["found_version"], 12080)
        self.assertIn("instead", result)


if __name__ == "__main__":
    unittest.main()

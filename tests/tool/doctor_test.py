# SPDX-License-Identifier: Apache-2.0
"""The doctor: what it finds, and what it says to do."""

import unittest

import tool

FEATURES = {
    "parameter_layouts": 12040,
    "edge_data": 12030,
    "capture_to_graph": 12030,
    "conditional_nodes": 12030,
    "conditional_switch": 12080,
    "child_graph_move": 12090,
    "node_ids": 13010,
    "node_params_query": 13020,
    "recapture_to_graph": 13030,
}


class DoctorTest(unittest.TestCase):
    def test_a_new_driver_is_usable(self):
        status, found = tool.run_json("doctor", "--driver", "sim", "--sim-version", "13.3")
        self.assertEqual(status, tool.OK)
        self.assertIs(found["usable"], True)
        self.assertEqual(found["driver"], tool.SIM_LIBRARY)
        self.assertEqual(found["driver_version"], 13030)
        self.assertEqual(found["findings"], [])
        self.assertEqual(len(found["devices"]), 1)
        self.assertNotEqual(found["devices"][0]["name"], "")
        self.assertRegex(found["devices"][0]["compute_capability"], r"^[1-9]\d*\.\d$")

    def test_native_is_made_to_fail_in_a_process_of_its_own(self):
        status, found = tool.run_json("doctor", "--driver", "sim", "--sim-version", "13.3")
        self.assertEqual(status, tool.OK)
        self.assertIs(found["failures_checked"], True)
        _, found = tool.run_json("doctor", "--driver", "sim", "--sim-version", "12.4")
        self.assertIs(found["failures_checked"], False)

    def test_features_come_with_the_version_that_brought_them(self):
        for version, number in (("12.4", 12040), ("13.0", 13000), ("13.5", 13050)):
            _, found = tool.run_json("doctor", "--driver", "sim", "--sim-version", version)
            self.assertEqual(
                {feature["name"]: feature["required_version"] for feature in found["features"]},
                FEATURES,
            )
            for feature in found["features"]:
                self.assertIs(feature["supported"], feature["required_version"] <= number, feature)

    def test_engines_are_listed_with_why(self):
        _, found = tool.run_json("doctor", "--driver", "sim", "--sim-version", "12.4")
        engines = {engine["which"]: engine for engine in found["engines"]}
        self.assertEqual(set(engines), {"native", "compare", "direct"})
        self.assertIs(engines["native"]["usable"], False)
        self.assertIn("13.3", engines["native"]["why"])

    def test_an_old_driver_gets_advice(self):
        _, found = tool.run_json("doctor", "--driver", "sim", "--sim-version", "12.4")
        self.assertEqual(
            found["findings"],
            [
                {
                    "missing": "this driver of version 12.4 has no cuStreamBeginRecaptureToGraph, "
                    "which the engine native needs",
                    "advice": "the engine compare does the same here; for native install a driver "
                    "of version 13.3 or newer, or try it on the simulated one: --driver sim "
                    "--sim-version 13.3",
                }
            ],
        )

    def test_no_driver_at_all_is_a_finding(self):
        status, found = tool.run_json("doctor", "--driver", "/nowhere/libcuda.so")
        self.assertEqual(status, tool.FAILED)
        self.assertIs(found["usable"], False)
        self.assertIsNone(found["driver"])
        self.assertIsNone(found["driver_version"])
        self.assertEqual(len(found["findings"]), 1)
        self.assertIn("/nowhere/libcuda.so", found["findings"][0]["missing"])

    def test_a_machine_without_a_driver_is_told_of_both(self):
        status, found = tool.run_json("doctor", **tool.without_system_driver())
        self.assertEqual(status, tool.OK)
        self.assertEqual(found["driver"], tool.SIM_LIBRARY)
        self.assertIn("libcuda.so.1", found["findings"][0]["missing"])

    def test_a_named_driver_that_does_not_load_is_a_finding_with_its_own_advice(self):
        status, found = tool.run_json("doctor", CUGRAFT_DRIVER="/dev/null")
        self.assertEqual(status, tool.FAILED)
        self.assertIsNone(found["driver"])
        self.assertIn("/dev/null", found["findings"][0]["missing"])
        self.assertIn("name another driver", found["findings"][0]["advice"])

    def test_text_ends_with_the_result(self):
        done = tool.run("doctor", "--driver", "sim", "--sim-version", "13.3")
        self.assertEqual(done.returncode, tool.OK)
        self.assertRegex(done.stdout, rf"^driver   {tool.SIM_LIBRARY} of version 13\.3")
        self.assertRegex(done.stdout, r"(?m)^feature  recapture_to_graph  yes   from 13\.3 on$")
        self.assertRegex(done.stdout, r"(?m)^failures native was made to fail, .* as it should be$")
        self.assertTrue(
            done.stdout.endswith("result   cugraft is usable here, on the simulated driver\n")
        )


if __name__ == "__main__":
    unittest.main()

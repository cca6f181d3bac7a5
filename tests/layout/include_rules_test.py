# SPDX-License-Identifier: Apache-2.0
"""The rules on includes find what they are for, and nothing else."""

import unittest

from layout import include_rules
from tree_case import TreeCase


class TableTest(TreeCase):
    def refused(self, source: str, target: str) -> list[str]:
        name = target
        for root in include_rules.INCLUDE_ROOTS:
            if target.startswith(root + "/"):
                name = target[len(root) + 1 :]
                break
        return self.found(include_rules.check_table, {target: "", source: f'#include "{name}"\n'})

    def test_allowed_pairs(self):
        for source, target in (
            ("include/cugraft/a.hpp", "include/cugraft/detail/b.hpp"),
            ("src/base/a.cpp", "include/cugraft/b.hpp"),
            ("src/handles/a.cpp", "src/driver/b.hpp"),
            ("src/engines/native.cpp", "src/capture/b.hpp"),
            ("src/recapture/a.cpp", "src/engines/registry.hpp"),
            ("sim/src/a.cpp", "include/cugraft/native.hpp"),
            ("sim/src/a.cpp", "src/driver/functions.def"),
            ("sim/src/a.cpp", "src/driver/newer_types.hpp"),
            ("sim/src/ptx/a.cpp", "sim/include/cugraft_sim/control.hpp"),
            ("tests/unit/model/a_test.cpp", "src/model/b.hpp"),
            ("tests/contract/a_test.cpp", "tests/support/b.hpp"),
            ("cli/a.cpp", "cli/b.hpp"),
        ):
            with self.subTest(source=source, target=target):
                self.assertCountEqual(self.refused(source, target), [])

    def test_forbidden_pairs(self):
        for source, target in (
            ("include/cugraft/a.hpp", "src/base/b.hpp"),
            ("src/base/a.cpp", "src/driver/b.hpp"),
            ("src/driver/a.cpp", "src/handles/b.hpp"),
            ("src/handles/a.cpp", "src/model/b.hpp"),
            ("src/model/a.cpp", "src/driver/b.hpp"),
            ("src/capture/a.cpp", "src/engines/b.hpp"),
            ("src/engines/a.cpp", "src/recapture/b.hpp"),
            ("src/recapture/a.cpp", "src/driver/b.hpp"),
            ("src/render/a.cpp", "src/handles/b.hpp"),
            ("src/handles/a.cpp", "sim/include/cugraft_sim/control.hpp"),
            ("sim/src/a.cpp", "include/cugraft/stream.hpp"),
            ("sim/src/a.cpp", "src/driver/call.hpp"),
            ("cli/a.cpp", "src/base/b.hpp"),
            ("cli/a.cpp", "sim/include/cugraft_sim/control.hpp"),
            ("examples/01_a/a.cpp", "sim/include/cugraft_sim/control.hpp"),
            ("tests/contract/a_test.cpp", "src/engines/b.hpp"),
            ("tests/sim/a_test.cpp", "include/cugraft/stream.hpp"),
            ("tests/package/a.cpp", "src/base/b.hpp"),
        ):
            with self.subTest(source=source, target=target):
                row = include_rules.row_of(source)
                self.assertCountEqual(
                    self.refused(source, target), [f"{source}:1: {row} may not include {target}"]
                )

    def test_folder_of_no_row(self):
        self.assertCountEqual(
            self.found(include_rules.check_table, {"src/misc/a.cpp": ""}),
            ["src/misc/a.cpp:1: lies in no folder of the include table"],
        )

    def test_include_in_a_comment_counts_as_written(self):
        files = {"src/base/a.cpp": '// #include "driver/b.hpp"\n', "src/driver/b.hpp": ""}
        self.assertCountEqual(self.found(include_rules.check_table, files), [])


class EngineTest(TreeCase):
    def test_an_engine_includes_another(self):
        files = {
            "src/engines/native/a.cpp": '#include "engines/compare/b.hpp"\n',
            "src/engines/compare/b.hpp": "",
        }
        self.assertCountEqual(
            self.found(include_rules.check_engines, files),
            [
                "src/engines/native/a.cpp:1: only the engine compare and the registry may include "
                "src/engines/compare/b.hpp"
            ],
        )

    def test_the_front_door_sees_past_the_registry(self):
        files = {
            "src/recapture/a.cpp": '#include "engines/native.hpp"\n',
            "src/engines/native.hpp": "",
        }
        self.assertCountEqual(
            self.found(include_rules.check_engines, files),
            [
                "src/recapture/a.cpp:1: only the engine native and the registry may include "
                "src/engines/native.hpp"
            ],
        )

    def test_registry_own_folder_and_shared_files(self):
        files = {
            "src/engines/registry.cpp": '#include "engines/native/a.hpp"\n',
            "src/engines/native/a.hpp": '#include "engines/engine.hpp"\n',
            "src/engines/native/a.cpp": '#include "engines/native/a.hpp"\n',
            "src/engines/engine.hpp": "",
        }
        self.assertCountEqual(self.found(include_rules.check_engines, files), [])


class FormTest(TreeCase):
    def test_forms(self):
        files = {
            "src/base/a.cpp": '#include "base/b.hpp"\n#include <base/b.hpp>\n'
            '#include "../base/b.hpp"\n#include "b.hpp"\n#include <vector>\n',
            "src/base/b.hpp": "",
        }
        self.assertCountEqual(
            self.found(include_rules.check_form, files),
            [
                "src/base/a.cpp:2: <base/b.hpp> is a file of ours: write it in quotes",
                "src/base/a.cpp:3: an include must not be written with ..",
                'src/base/a.cpp:4: "b.hpp" is no file below an include root',
            ],
        )

    def test_one_name_for_two_files(self):
        files = {
            "src/capture/a.hpp": "",
            "sim/src/capture/a.hpp": "",
            "cli/main.cpp": "",
            "bench/main.cpp": "",
        }
        self.assertCountEqual(
            self.found(include_rules.check_unique, files),
            ['src/capture/a.hpp:1: "capture/a.hpp" is also sim/src/capture/a.hpp'],
        )


class CycleTest(TreeCase):
    def test_a_cycle_over_three_folders(self):
        files = {
            "sim/src/a/x.hpp": '\n#include "b/x.hpp"\n',
            "sim/src/b/x.hpp": '#include "c/x.hpp"\n',
            "sim/src/c/x.hpp": '#include "a/x.hpp"\n',
        }
        self.assertCountEqual(
            self.found(include_rules.check_cycles, files),
            [
                "sim/src/a/x.hpp:2: folders in a cycle: "
                "sim/src/a -> sim/src/b -> sim/src/c -> sim/src/a"
            ],
        )

    def test_a_folder_and_its_subfolder_are_one(self):
        files = {
            "src/engines/registry.hpp": '#include "engines/native/a.hpp"\n',
            "src/engines/engine.hpp": "",
            "src/engines/native/a.hpp": '#include "engines/engine.hpp"\n',
        }
        self.assertCountEqual(self.found(include_rules.check_cycles, files), [])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""The rules on what only one place may name find what they are for."""

import unittest

from layout import owner_rules
from tree_case import TreeCase


class OwnerTest(TreeCase):
    def test_cuda_header(self):
        files = {
            "src/driver/cuda_api.hpp": "#include <cuda.h>\nstatic_assert(CUDA_VERSION > 1);\n",
            "sim/src/cuda_api.hpp": "#include <cuda.h>\n",
            "src/driver/call.hpp": "#include <cuda.h>\n#if CUDA_VERSION > 1\n#endif\n",
            "src/base/a.cpp": '// CUDA_VERSION\nconst char* b = "CUDA_VERSION";\n',
            "tests/package/programs/p.cpp": "#include <cuda.h>\n",
        }
        owners = "src/driver/cuda_api.hpp, sim/src/cuda_api.hpp, bench/raw_driver.hpp"
        only = f"may be named in {owners} only"
        self.assertCountEqual(
            self.found(owner_rules.check_cuda_header, files),
            [
                f"src/driver/call.hpp:1: cuda.h {only}",
                f"src/driver/call.hpp:2: CUDA_VERSION {only}",
            ],
        )

    def test_loader(self):
        files = {
            "src/driver/loader.cpp": "#include <dlfcn.h>\nvoid* a = dlopen(b, 1);\n",
            "src/handles/a.cpp": "#include <dlfcn.h>\nvoid* a = dlsym(b, c);\n",
            "tests/sim/a_test.cpp": "#include <dlfcn.h>\n",
        }
        self.assertCountEqual(
            self.found(owner_rules.check_loader, files),
            [
                "src/handles/a.cpp:1: dlfcn.h may be named in src/driver/loader.cpp only",
                "src/handles/a.cpp:2: dlsym may be named in src/driver/loader.cpp only",
            ],
        )

    def test_raw_calls(self):
        files = {
            "src/handles/a.cpp": "// cuInit(0)\nint a = cuInit (0);\nauto b = cugraft_cu(1);\n",
            "sim/src/a.cpp": "int a = cuInit(0);\n",
        }
        self.assertCountEqual(
            self.found(owner_rules.check_raw_calls, files),
            ["src/handles/a.cpp:2: raw driver call cuInit: go through the driver table"],
        )

    def test_python(self):
        files = {
            "python/src/a.cpp": "#include <nanobind/nanobind.h>\n",
            "src/base/a.cpp": "#include <Python.h>\n",
        }
        self.assertCountEqual(
            self.found(owner_rules.check_python, files),
            ["src/base/a.cpp:1: <Python.h> may be included under python/src only"],
        )

    def test_simulator(self):
        files = {
            "include/cugraft/a.hpp": "// as the Simulator does\n",
            "src/base/a.cpp": '// similar, simple\nauto b = "libcugraft_sim.so";\n',
            "python/cugraft/a.py": "use('sim')\n",
            "cli/a.cpp": '"sim"\n',
        }
        says = "the library must not mention the simulator"
        self.assertCountEqual(
            self.found(owner_rules.check_simulator, files),
            [
                f"include/cugraft/a.hpp:1: 'Simulat': {says}",
                f"src/base/a.cpp:2: 'cugraft_sim': {says}",
                f"python/cugraft/a.py:1: 'sim': {says}",
            ],
        )

    def test_streams(self):
        files = {
            "sim/src/a.cpp": "#include <string>\n#include <sstream>\n",
            "cli/a.cpp": "#include <ostream>\n",
        }
        self.assertEqual(
            self.found(owner_rules.check_streams, files),
            ["sim/src/a.cpp:2: <sstream>: the simulated driver uses no streams"],
        )

    def test_public_includes(self):
        files = {
            "include/cugraft/a.hpp": '#include <vector>\n#include "cugraft/b.hpp"\n'
            "#include <fmt/core.h>\n",
            "include/cugraft/b.hpp": "",
        }
        self.assertCountEqual(
            self.found(owner_rules.check_public_includes, files),
            [
                "include/cugraft/a.hpp:3: <fmt/core.h>: a public header includes only the standard "
                "library and other public headers"
            ],
        )

    def test_macros(self):
        files = {
            "include/cugraft/version.hpp": "#define CUGRAFT_VERSION_MAJOR 1\n",
            "include/cugraft/a.hpp": "#define CUGRAFT_A 1\n",
            "src/base/a.cpp": "#define CHECK(x) x\n# define CUGRAFT_B\n#undef CUGRAFT_B\n",
            "src/base/b.cpp": "#define EXPECT_B(x) x\n",
            "tests/support/a.hpp": "#define EXPECT_A(x) x\n#define CUGRAFT_A 1\n#define B 1\n",
            "src/driver/f.def": "#undef CUGRAFT_F\n",
            "src/driver/f.cpp": '#define CUGRAFT_F(x) x\n#include "driver/f.def"\n',
        }
        self.assertCountEqual(
            self.found(owner_rules.check_macros, files),
            [
                "include/cugraft/a.hpp:1: macro CUGRAFT_A is never undefined",
                "src/base/a.cpp:1: macro CHECK: the prefix is CUGRAFT_",
                "src/base/b.cpp:1: macro EXPECT_B: the prefix is CUGRAFT_",
                "tests/support/a.hpp:3: macro B: the prefix is CUGRAFT_",
            ],
        )


if __name__ == "__main__":
    unittest.main()

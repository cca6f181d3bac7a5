# SPDX-License-Identifier: Apache-2.0
"""render, diff, rules and completion: files in, text and pictures out, no driver."""

import json
import os
import pathlib
import pty
import shutil
import subprocess
import tempfile
import time
import unittest

import tool

EXAMPLE = os.environ["CUGRAFT_WHY_EXAMPLE"]
KERNEL = {
    "function": 1,
    "grid": [1, 1, 1],
    "block": [32, 1, 1],
    "shared_memory_bytes": 0,
    "known": "everything",
    "cluster": None,
    "cooperative": False,
    "priority": 0,
    "attributes": [],
    "parameters": [{"offset": 0, "size": 4}],
}


def chain(length: int, name: str = "scale", changed: int = -1) -> str:
    """A saved graph of kernels, each behind the one before; one has another argument."""
    nodes = [
        {
            "path": str(at),
            "kind": "kernel",
            "name": name,
            "tag": "",
            "dependencies": [{"node": at - 1, "from_port": 0, "to_port": 0, "type": 0}][:at],
            "form": "kernel",
            "parameters": {**KERNEL, "arguments": "01000000" if at == changed else "00000000"},
        }
        for at in range(length)
    ]
    levels = [{"parent": None, "body": 0, "count": length}]
    return json.dumps({"schema_version": 1, "generation": 0, "levels": levels, "nodes": nodes})


class LookTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        subprocess.run(
            [EXAMPLE, cls.folder],
            check=True,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "CUGRAFT_DRIVER": tool.SIM_LIBRARY},
        )

    def file(self, name: str, text: str | None = None) -> str:
        if text is not None:
            (self.folder / name).write_text(text, encoding="utf-8")
        return str(self.folder / name)

    def trouble(self, sentence: str, *arguments: str):
        done = tool.run(*arguments)
        self.assertEqual((done.returncode, done.stdout), (tool.USAGE, ""))
        self.assertEqual(done.stderr, f"cugraft: {sentence}\n")

    def test_diff_ends_as_diff_does(self):
        before, after = self.file("before.json"), self.file("after.json")
        self.assertEqual(tool.run("diff", before, before).returncode, 0)
        done = tool.run("diff", before, after, "--driver-version", "12.4")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertIn("1 copy: needs_instantiate by copy.2d\n    width: 64 -> 32\n", done.stdout)
        self.assertEqual(tool.run("diff", before, self.file("none.json")).returncode, 2)

    def test_diff_says_which_structures_differ(self):
        done = tool.run("diff", self.file("one.json", chain(1)), self.file("two.json", chain(2)))
        self.assertEqual(done.returncode, 1)
        self.assertIn('first difference at 1: end of the graph vs kernel "scale"', done.stdout)

    def test_dumps_are_compared_and_what_they_lack_is_said(self):
        done = tool.run("diff", self.file("before.dot"), self.file("after.dot"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 copy: needs_instantiate by copy.2d", done.stdout)
        self.assertIn("do not show arguments of kernels", done.stderr)

    def test_diff_refuses_what_cannot_be_compared(self):
        before = self.file("before.json")
        self.trouble(
            "a saved graph and a driver's dump do not show the same of a node: compare two of one "
            "sort",
            "diff",
            before,
            self.file("after.dot"),
        )
        report = self.file("report.json")
        self.trouble(
            f"{report}: a graph is needed here, and this is a report", "diff", before, report
        )
        done = tool.run("diff", before, before, "--driver-version", "12.3")
        self.assertEqual(done.returncode, tool.UNSUPPORTED)
        self.trouble(
            '--driver-version: "new" is no version, as 12.4 is',
            *("diff", before, before, "--driver-version", "new"),
        )

    def test_contexts_that_no_file_has_are_said_for_newer_drivers(self):
        def host(function: int) -> str:
            node = json.loads(chain(1))
            parameters = {"function": function, "user_data": 0}
            node["nodes"][0] |= {"kind": "host", "form": "host", "parameters": parameters}
            return self.file(f"host_{function}.json", json.dumps(node))

        for version, said in (("13.3", False), ("13.4", True)):
            done = tool.run("diff", host(1), host(2), "--driver-version", version)
            self.assertEqual(done.returncode, 1)
            self.assertIn("patchable by host.function", done.stdout)
            self.assertEqual("another context" in done.stderr, said)

    def test_render_reads_reports_graphs_and_dumps(self):
        report = pathlib.Path(self.file("report.json")).read_text(encoding="utf-8")
        self.assertEqual(
            tool.run("render", self.file("report.json"), "--format", "json").stdout, report + "\n"
        )
        for name, begin in (
            ("before.json", "2 nodes, generation 0\n"),
            ("before.dot", "2 nodes, a driver's dump\n"),
        ):
            self.assertTrue(tool.run("render", self.file(name)).stdout.startswith(begin))

    def test_the_page_has_the_data(self):
        out = self.file("page.html")
        done = tool.run(
            *("render", self.file("before.json"), "--report", self.file("report.json")),
            *("--format", "html", "-o", out),
        )
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        page = pathlib.Path(out).read_text(encoding="utf-8")
        block = page.split('<script type="application/json" id="data">')[1].split("</script>")[0]
        data = json.loads(block)
        self.assertEqual([node["change"] for node in data["nodes"]], [0, 1])
        self.assertEqual(data["nodes"][1]["from"], [0])

    def test_svg_says_what_is_missing(self):
        done = tool.run("render", self.file("before.json"), "--format", "svg", PATH="/nowhere")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("there is no program dot on PATH: install the package graphviz", done.stderr)

    def test_svg_is_what_graphviz_draws(self):
        # A stand-in shows what dot is given, and what happens when it fails.
        stand_in = self.folder / "bin" / "dot"
        stand_in.parent.mkdir(exist_ok=True)
        stand_in.write_text('#!/bin/sh\necho "args $*"\ncat\n', encoding="utf-8")
        stand_in.chmod(0o755)
        path = f"{stand_in.parent}:{os.environ['PATH']}"
        drawn = tool.run("render", self.file("before.json"), "--format", "svg", PATH=path)
        dot = tool.run("render", self.file("before.json"), "--format", "dot")
        self.assertEqual(drawn.stdout, "args -Tsvg\n" + dot.stdout)
        stand_in.write_text("#!/bin/sh\necho broken >&2\nexit 3\n", encoding="utf-8")
        failed = tool.run("render", self.file("before.json"), "--format", "svg", PATH=path)
        self.assertEqual(failed.returncode, 2)
        self.assertIn("dot ended with status 3: broken", failed.stderr)

    def test_a_broken_file_is_named_with_its_line(self):
        name = self.file("broken.json", '{"schema_version": 1,\n "generation": "x"}')
        self.trouble(
            f"{name}: line 2: expected a whole number from 0 to 18446744073709551615, but there "
            "is '\"x\"}'",
            "render",
            name,
        )
        name = self.file("empty.json", "")
        self.trouble(f"{name}: line 1: expected JSON or DOT, but there is nothing", "render", name)
        name = self.file("picture.dot", "digraph {\n a -> }")
        self.trouble(f"{name}: line 2: expected a node, but there is '}}'", "render", name)
        self.assertEqual(tool.run("render", str(self.folder)).returncode, 2)
        done = tool.run("render", self.file("before.json"), "-o", "/nowhere/out")
        self.assertIn("/nowhere/out: cannot be written: ", done.stderr)

    def test_colours_are_for_terminals(self):
        def seen(**variables: str) -> bytes:
            main, other = pty.openpty()
            with subprocess.Popen(
                [tool.TOOL, "render", self.file("report.json")],
                stdout=other,
                env={**os.environ, "TERM": "xterm", **variables},
            ) as child:
                os.close(other)
                text = b""
                try:
                    while part := os.read(main, 4096):
                        text += part
                except OSError:  # how the end of a terminal shows
                    pass
                child.wait()
            os.close(main)
            return text

        self.assertIn(b"\x1b[31mneeds_instantiate\x1b[0m by", seen(NO_COLOR=""))
        self.assertNotIn(b"\x1b", seen(NO_COLOR="1"))
        self.assertNotIn("\x1b", tool.run("render", self.file("report.json")).stdout)

    def test_a_name_cannot_write_to_the_terminal(self):
        name = self.file("escape.json", chain(1, "a\u001b]0;title\u0007"))
        main, other = pty.openpty()
        subprocess.run([tool.TOOL, "render", name], stdout=other, check=True)
        os.close(other)
        self.assertNotIn(b"\x1b]", os.read(main, 4096))
        os.close(main)

    def test_large_graphs_take_time_in_proportion(self):
        def seconds(length: int) -> float:
            before = self.file("large_a.json", chain(length))
            after = self.file("large_b.json", chain(length, changed=length - 1))
            start = time.monotonic()
            done = tool.run("diff", before, after)
            self.assertIn(f"1 of {length} nodes changed", done.stdout)
            return time.monotonic() - start

        # Four times the nodes: a quadratic step would take sixteen times as long.
        self.assertLess(seconds(40_000), 10 * max(seconds(10_000), 0.1))

    def test_rules_are_those_of_the_library(self):
        status, answer = tool.run_json("rules")
        self.assertEqual(status, 0)
        ids = [rule["id"] for rule in answer["rules"]]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertIn("kernel.cluster", ids)
        self.assertTrue(all(rule["source"] and rule["text"] for rule in answer["rules"]))
        text = tool.run("rules").stdout
        for name in ids:
            self.assertIn(f"{name}: ", text)

    def test_completion_knows_every_subcommand_and_option(self):
        for shell in ("bash", "zsh", "fish"):
            script = tool.run("completion", shell).stdout
            for word in ("doctor", "demo", "render", "diff", "rules", "completion"):
                self.assertIn(word, script)
            self.assertIn("driver-version", script)
            self.assertNotIn("check-failures", script)
        script = tool.run("completion", "bash").stdout
        asked = script + "COMP_WORDS=(cugraft d); COMP_CWORD=1; _cugraft; echo ${COMPREPLY[@]}\n"
        done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
        self.assertEqual(sorted(done.stdout.split()), ["demo", "diff", "doctor"])

    def test_help_has_examples(self):
        for command in ("render", "diff", "completion"):
            self.assertIn("Example", tool.run(command, "--help").stdout)


if __name__ == "__main__":
    unittest.main()

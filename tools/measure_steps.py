#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures whole steps by cugraft and by hand, and prints them as a page for docs/measurements.

Runs the build's cugraft_bench once, so that all ways are measured in one process, with their
repetitions interleaved at random: a machine that is disturbed for a while disturbs all of them.
What is printed are medians over the repetitions; bench/README.md says what the ids mean.

    tools/measure_steps.py > docs/measurements/DATE-DEVICE-steps.md
"""

import argparse
import json
import os
import pathlib
import platform
import re
import shlex
import statistics
import subprocess
import sys

ID = re.compile(
    r"update\.(?P<shape>\w+?)_(?P<way>[a-z]+)_(?P<share>one|\d+_per_cent)\.(?P<size>\d+)"
)
BY_HAND = ("manual", "instantiated")  # the first that was measured is compared with
BY_CUGRAFT = ("direct", "calls", "semantic", "none")
SHARES = ("0_per_cent", "one", "1_per_cent", "10_per_cent", "100_per_cent")
WAYS = ("eager", *reversed(BY_HAND), *BY_CUGRAFT)
PARTS = ("body", "begin_end", "compare", "apply", "rest", "update", "instantiate", "launch",
         "destroy")  # fmt: skip
LEGEND = """\
Ways: `manual` captures with the driver's own calls, updates with `cuGraphExecUpdate`, launches and
destroys the capture; `instantiated` makes a new executable instead, as is needed where the update
is refused. `semantic` and `none` re-capture the same raw calls with the engine `compare` and that
`attribute_check`, update and launch; `calls` re-captures cugraft's own calls, whose attributes are
known without reading them; `direct` compares those calls as they are made. Ratios say how many
times faster than the manual way.
Times are host microseconds a step; the device is waited for outside."""
PARTS_LEGEND = """\
`body`: the calls of the step. `begin_end`: begin and end of the capture. `compare`: reading back,
and comparing. `apply`: setting the graph's nodes. `rest` of the re-capture: above all the end of
what was captured, which after raw calls is left to the next `update`: until then the graph keeps
what foreign code attached. `update`: the executable's side."""


def measure(program: pathlib.Path, repetitions: int, pattern: str) -> tuple[list[str], dict]:
    """The command, and what Google Benchmark says in JSON."""
    command = [
        str(program),
        f"--benchmark_filter={pattern}",
        f"--benchmark_repetitions={repetitions}",
        "--benchmark_enable_random_interleaving=true",
        "--benchmark_format=json",
    ]
    run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return command, json.loads(run.stdout)


class Case:
    """The repetitions of one id."""

    def __init__(self, name: str):
        found = ID.match(name)
        if found is None:
            raise ValueError(f"not the id of a step: {name}")
        self.shape, self.way = found["shape"], found["way"]
        self.share, self.size = SHARES.index(found["share"]), int(found["size"])
        self.times: list[float] = []
        self.parts: dict[str, list[float]] = {}
        self.refusal = ""

    def add(self, row: dict) -> None:
        if row.get("error_occurred"):
            self.refusal = row["error_message"]
            return
        self.times.append(row["real_time"] * {"ns": 1e-3, "us": 1, "ms": 1e3}[row["time_unit"]])
        for part in PARTS:
            if part in row:
                self.parts.setdefault(part, []).append(row[part])

    @property
    def program(self) -> tuple[str, int, int]:
        return self.shape, self.size, self.share

    @property
    def changed(self) -> str:
        return SHARES[self.share].replace("_per_cent", " %")

    @property
    def time(self) -> float:
        return statistics.median(self.times)


def cases_of(result: dict) -> list[Case]:
    cases: dict[str, Case] = {}
    for row in result["benchmarks"]:
        if row.get("run_type") == "iteration":
            cases.setdefault(row["run_name"], Case(row["run_name"])).add(row)
    return sorted(cases.values(), key=lambda c: (c.shape, c.size, c.share, WAYS.index(c.way)))


def cpu() -> str:
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.machine()
    found = re.search(r"^model name\s*: (.*)$", text, re.M)
    return f"{found[1] if found else platform.machine()}, {os.cpu_count()} threads"


def print_table(header: list[str], rows: list[list[str]]) -> None:
    print("| " + " | ".join(header) + " |")
    print("|" + " --- |" * 2 + " ---: |" * (len(header) - 2))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def print_ratios(cases: list[Case]) -> None:
    programs = sorted({c.program for c in cases})
    rows = []
    for shape, size, share in programs:
        by_way = {c.way: c for c in cases if c.program == (shape, size, share) and c.times}
        base = next((by_way[way] for way in BY_HAND if way in by_way), None)
        if base is None or not any(way in by_way for way in BY_CUGRAFT):
            continue
        row = [f"{shape} {size}", base.changed, f"{base.time:.1f} ({base.way})"]
        for way in BY_CUGRAFT:
            row.append(
                f"{by_way[way].time:.1f}: **{base.time / by_way[way].time:.2f}**"
                if way in by_way
                else ""
            )
        rows.append(row)
    print_table(["nodes", "changed", "by hand", *BY_CUGRAFT], rows)


def print_rows(cases: list[Case]) -> None:
    rows = []
    for case in (c for c in cases if c.times):
        name = f"{case.shape} {case.size}, {case.changed}"
        spread = f"{min(case.times):.1f} to {max(case.times):.1f}"
        parts = [
            f"{statistics.median(case.parts[part]):.1f}" if part in case.parts else ""
            for part in PARTS
        ]
        rows.append([name, case.way, f"{case.time:.1f}", spread, *parts])
    print_table(["nodes, changed", "way", "median", "all repetitions", *PARTS], rows)


def print_page(command: list[str], result: dict, cases: list[Case]) -> None:
    context = result["context"]
    print("# Steps: by hand and by cugraft\n")
    if "note" in context:
        print(f"**{context['note']}.** The figures only show that the program works.\n")
    print(f"{context['device']}; driver {context['driver']}; host {cpu()}; {context['date']}.\n")
    print(f"```\n{shlex.join(command)}\n```\n\n{LEGEND}\n")
    print_ratios(cases)
    for case in (c for c in cases if c.refusal):
        print(f"Not measured: {case.shape}, `{case.way}`: {case.refusal}.\n")
    print(f"## Where the time goes\n\n{PARTS_LEGEND}\n")
    print_rows(cases)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--filter", default=r"^update\.", help="as --benchmark_filter")
    parser.add_argument("--json", type=pathlib.Path, help="also writes what was measured there")
    options = parser.parse_args()
    program = options.build / "bin" / "cugraft_bench"
    command, result = measure(program, options.repetitions, options.filter)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1), encoding="utf-8")
    print_page(command, result, cases_of(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions that the simulated driver takes for graphs of many nodes.

Runs the build's cugraft_simulator_parts under valgrind and prints a table: instructions of each
part, of all threads, divided by the number of nodes. What is linear has the same figure in every
column. Fails where a part takes more than --growth times as much a node in the largest graph as in
the smallest.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

MEASURED = "measured_part"
SHAPES = {"simulator": ("chain", "fork-join", "conditions"), "recapture": ("chain", "layers")}


def instructions_of_parts(folder: pathlib.Path) -> list[int]:
    """What each dump that was made at the end of a part says, in their order."""
    counts = {}
    for dump in folder.glob("parts.*"):
        text = dump.read_text()
        if f"Trigger: --dump-after={MEASURED}" in text:
            counts[int(dump.suffix[1:])] = int(re.search(r"^totals: (\d+)", text, re.M).group(1))
    return [counts[number] for number in sorted(counts)]


def count(build: pathlib.Path, program: str, shape: str, nodes: int) -> dict[str, float]:
    """Instructions a node (or another unit that the program says) by part."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run = subprocess.run(
            [
                "valgrind",
                "--quiet",
                "--tool=callgrind",
                f"--callgrind-out-file={folder}/parts",
                f"--dump-before={MEASURED}",
                f"--dump-after={MEASURED}",
                build / "bin" / f"cugraft_{program}_parts",
                build / "lib" / "libcugraft_sim.so",
                shape,
                str(nodes),
            ],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        counts = instructions_of_parts(folder)
    parts = [line.split(" ", 1) for line in run.stdout.splitlines()]
    if len(parts) != len(counts):
        raise RuntimeError(f"{len(parts)} parts, but {len(counts)} counts")
    return {name: total / int(units) for (units, name), total in zip(parts, counts, strict=True)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--of", choices=sorted(SHAPES), default="simulator")
    parser.add_argument("--nodes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--growth", type=float, default=2.0)
    options = parser.parse_args()
    nodes = sorted(options.nodes)
    print("| shape | part | " + " | ".join(f"{n:,}".replace(",", " ") for n in nodes) + " |")
    print("| --- | --- |" + " ---: |" * len(nodes))
    grown = []
    for shape in SHAPES[options.of]:
        columns = [count(options.build, options.of, shape, n) for n in nodes]
        for part in columns[0]:
            row = [column[part] for column in columns]
            print(f"| {shape} | {part} | " + " | ".join(f"{each:.0f}" for each in row) + " |")
            if row[-1] > options.growth * row[0]:
                grown.append(f"{shape}: {part}")
    for part in grown:
        print(f"grows faster than the graph: {part}", file=sys.stderr)
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())

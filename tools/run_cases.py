#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of test programs in a process each, several at a time, and prints how many agree.

A real driver may crash or hang where a case shows a defect of it, and some cases leave the
context unusable: a process of its own keeps each from the others.

    CUGRAFT_DRIVER=system tools/run_cases.py build/release/tests/sim/sim_rules
    CUGRAFT_DRIVER=system tools/run_cases.py build/release/tests/contract/contract --seconds 600
"""

import argparse
import concurrent.futures
import os
import subprocess
import sys

OUTCOMES = ("agree", "differ", "not runnable", "crash", "hang")


def cases_of(program: str, pattern: str) -> list[str]:
    """The names of the program's cases that the pattern of --gtest_filter takes."""
    listed = subprocess.run(
        [program, "--gtest_list_tests", f"--gtest_filter={pattern}"],
        capture_output=True,
        text=True,
        check=True,
    )
    names, suite = [], ""
    for line in listed.stdout.splitlines():
        text = line.split("#")[0].rstrip()
        if line.startswith("Running main"):
            continue
        if line.startswith("  "):
            names.append(suite + text.strip())
        else:
            suite = text
    return names


def run_case(program: str, name: str, seconds: float) -> tuple[str, str]:
    """The outcome of one case, and what it printed."""
    command = [program, f"--gtest_filter={name}", "--gtest_brief=0"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as late:
        return "hang", (late.stdout or b"").decode(errors="replace")
    printed = done.stdout + done.stderr
    if done.returncode < 0 or "[==========]" not in printed.split("Global test environment")[-1]:
        return "crash", f"exit status {done.returncode}\n{printed}"
    if done.returncode != 0:
        return "differ", printed
    return ("not runnable" if "[  SKIPPED ]" in printed else "agree"), printed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    parser.add_argument("--filter", default="*", help="as --gtest_filter")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=60, help="limit of a case")
    parser.add_argument("--skipped", action="store_true", help="also list what was not runnable")
    asked = parser.parse_args()
    work = [(p, n) for p in asked.programs for n in cases_of(p, asked.filter)]
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        results = list(pool.map(lambda item: run_case(*item, asked.seconds), work))
    counts = dict.fromkeys(OUTCOMES, 0)
    for (_, name), (outcome, printed) in zip(work, results, strict=True):
        counts[outcome] += 1
        if outcome == "not runnable":
            if asked.skipped:
                reasons = [line for line in printed.splitlines() if line and line[0] not in "[NR"]
                print(f"-- {name}: not runnable: {' '.join(reasons)[-200:]}")
        elif outcome != "agree":
            print(f"-- {name}: {outcome}\n{printed}")
    print("cases", len(work), *(f"{name} {number}" for name, number in counts.items()), sep=" | ")
    return int(any(counts[name] for name in ("differ", "crash", "hang")))


if __name__ == "__main__":
    sys.exit(main())

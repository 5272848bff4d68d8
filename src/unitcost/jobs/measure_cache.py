"""What a cache of predictions would do to a log of requests: exact hits, prefixes, and answers to similar requests."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from unitcost.economics.caching.lru import UNLIMITED, HitTable, Lookup, PrefixHits, hit_table, prefix_hits
from unitcost.economics.caching.near import NearHits, agreeing, cosine, near_hits, signatures, unit_vectors
from unitcost.economics.caching.saving import CacheCosts, net_saving_usd_per_1k
from unitcost.errors import BadFile, BadSetting, UnknownName
from unitcost.measure.load.arrivals import moments
from unitcost.measure.tables import column, read_rows
from unitcost.units import HOURS_PER_MONTH, SECONDS_PER_HOUR

KEYS = ("request", "prompt", "text", "query", "input", "key", "lbn")
TENANTS = ("tenant", "customer", "user", "account")
VERSIONS = ("model", "model_version", "version_of_model", "parameters", "temperature")
BLOCKS = "hash_ids"
#: Characters of a block of a prompt, where the log has no blocks of its own.
_BLOCK_SIGNS = 64
_SPACE = re.compile(r"\s+")
_PUNCTUATION = re.compile(r"[^\w\s]")
NORMALISATIONS: Mapping[str, Callable[[str], str]] = {
    "none": lambda text: text,
    "space": lambda text: _SPACE.sub(" ", text).strip(),
    "case": lambda text: _SPACE.sub(" ", text).strip().casefold(),
    "words": lambda text: _SPACE.sub(" ", _PUNCTUATION.sub(" ", text)).strip().casefold(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheAsk:
    """What is asked of a log.

    Parameters
    ----------
    key, answer, truth
        Columns with the request, what the model answers to it, and what is right; empty = found by name, none, none.
    normalise
        What is done to a request before it is looked up; it is declared, as it decides what counts as the same.
    sizes, ages_s
        Entries and ages of the caches [entries, s].
    thresholds
        Similarities at which a stored answer is served; empty = no near-duplicates.
    embeddings
        File with one vector per request (npz, first array), or None: MinHash of the text.
    most
        Requests that near-duplicates are looked for among.
    costs
        Prices, or None.
    """

    log: Path
    key: str = ""
    answer: str = ""
    truth: str = ""
    normalise: str = "space"
    sizes: tuple[float, ...] = (100, 1_000, 10_000, UNLIMITED)
    ages_s: tuple[float, ...] = (UNLIMITED,)
    thresholds: tuple[float, ...] = ()
    embeddings: Path | None = None
    most: int = 20_000
    costs: CacheCosts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheAnswer:
    """What the caches would do.

    Parameters
    ----------
    exact
        Hits of equal requests, by size and age; None where the log has blocks only.
    prefixes
        Hits of blocks of prompts; None where requests are no texts.
    near
        One per threshold.
    savings_usd_per_1k
        Net saving of exact hits per size, then of each threshold; empty without prices. [USD]
    """

    ask: CacheAsk
    requests: int
    key_columns: tuple[str, ...]
    exact: HitTable | None
    prefixes: PrefixHits | None
    near: tuple[NearHits, ...]
    savings_usd_per_1k: tuple[tuple[str, Decimal], ...]
    notes: tuple[str, ...]


def measure_cache(ask: CacheAsk) -> CacheAnswer:
    """Replay a log.

    Raises
    ------
    UnknownName
        When a named column or normalisation does not exist.
    BadSetting
        When near-duplicates are asked for without answers: nobody could say how often they are wrong.
    """
    if ask.normalise not in NORMALISATIONS:
        raise UnknownName("normalisation", ask.normalise, NORMALISATIONS)
    rows = read_rows(ask.log)
    for name in (ask.key, ask.answer, ask.truth):
        if name and name not in rows[0]:
            raise UnknownName("column", name, rows[0], where=str(ask.log))
    if BLOCKS in rows[0] and not ask.key:
        return _of_blocks(ask, rows)
    return _of_requests(ask, rows)


def _of_blocks(ask: CacheAsk, rows: Sequence[Mapping[str, Any]]) -> CacheAnswer:
    """A log that tells blocks of prompts by hashes."""
    odd = next((place for place, row in enumerate(rows) if not isinstance(row.get(BLOCKS), list)), None)
    if odd is not None:
        raise BadFile(
            f"{BLOCKS} of row {odd + 1:,} is no list", where=str(ask.log), mend="give the blocks of each prompt"
        )
    found = prefix_hits([tuple(row[BLOCKS]) for row in rows], ask.sizes)
    return CacheAnswer(
        ask=ask, requests=len(rows), key_columns=(BLOCKS,), exact=None, prefixes=found, near=(), savings_usd_per_1k=(),
        notes=_prefix_note(found),
    )  # fmt: skip


def _of_requests(ask: CacheAsk, rows: list[dict[str, Any]]) -> CacheAnswer:
    name = ask.key or column(rows, KEYS)
    if not name:
        raise BadFile(
            "has no column with requests", where=str(ask.log), mend=f"name it with --key, or one of: {', '.join(KEYS)}"
        )
    empty = next((place for place, row in enumerate(rows) if not _cell(row, name).strip()), None)
    if empty is not None:
        raise BadFile(
            f"{name} of row {empty + 1:,} is empty",
            where=str(ask.log),
            mend="leave rows without a request out: all would be hits",
        )
    at_s = moments(rows, ask.log)
    order = sorted(range(len(rows)), key=lambda place: at_s[place])
    rows = [rows[place] for place in order]
    told = {part for row in rows for part in row}
    parts = [part for part in (*VERSIONS, *TENANTS) if part in told]
    texts = [NORMALISATIONS[ask.normalise](_cell(row, name)) for row in rows]
    keys = [(*(_cell(row, part) for part in parts), text) for row, text in zip(rows, texts, strict=True)]
    lookups = [Lookup(at_s=at_s[place], key=key) for place, key in zip(order, keys, strict=True)]
    exact = hit_table(lookups, ask.sizes, ask.ages_s)
    prefixes = None if _is_number(texts[0]) else prefix_hits([_blocks(key) for key in keys], ask.sizes)
    near = _near(ask, rows, texts, parts, order)
    return CacheAnswer(
        ask=ask, requests=len(rows), key_columns=(*parts, name), exact=exact, prefixes=prefixes, near=near,
        savings_usd_per_1k=_savings(ask, exact, near, at_s[order[-1]] - at_s[order[0]]),
        notes=_prefix_note(prefixes) if prefixes else (),
    )  # fmt: skip


def _cell(row: Mapping[str, Any], name: str) -> str:
    """What a row has in a column, as text; empty where it has nothing."""
    found = row.get(name)
    return "" if found is None else str(found)


def _blocks(key: Sequence[str]) -> list[tuple[str, ...]]:
    """Whole blocks of a request; each stands for all that is before it too."""
    *owner, text = key
    return [(*owner, text[: end + _BLOCK_SIGNS]) for end in range(0, len(text) - _BLOCK_SIGNS + 1, _BLOCK_SIGNS)]


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal()


def _near(
    ask: CacheAsk, rows: Sequence[Mapping[str, Any]], texts: Sequence[str], parts: Sequence[str], order: Sequence[int]
) -> tuple[NearHits, ...]:
    if not ask.thresholds:
        return ()
    if not ask.answer:
        raise BadSetting(
            "near-duplicates need what the model answers to each request",
            mend="name the column with --answer: without it nobody knows how often a stored answer is another",
        )
    count = min(ask.most, len(rows))
    points, similarity = signatures(texts[:count]), agreeing
    vectors: Any = points
    if ask.embeddings is not None:
        vectors, similarity = _vectors(ask.embeddings, len(rows))[list(order)][:count], cosine
    said = np.array([_cell(row, ask.answer) for row in rows[:count]])
    truth = np.array([_cell(row, ask.truth).strip() for row in rows[:count]]) if ask.truth else None
    owners = ["\0".join(_cell(row, part) for part in parts) for row in rows[:count]]
    return tuple(near_hits(vectors, similarity, level, said, truth, owners) for level in ask.thresholds)


def _vectors(path: Path, requests: int) -> Any:
    try:
        stored = np.load(path, allow_pickle=False)
        found = stored if isinstance(stored, np.ndarray) else stored[stored.files[0]]
    except (OSError, ValueError, EOFError, IndexError, BadZipFile) as error:
        raise BadFile(f"cannot be read as npz: {error}", where=str(path), mend="save it with numpy.savez") from error
    if found.dtype.kind not in "iuf":
        raise BadFile(f"holds {found.dtype}, no numbers", where=str(path), mend="save vectors of numbers")
    if found.ndim != 2 or len(found) != requests:
        raise BadFile(
            f"holds {found.shape} for {requests:,} requests",
            where=str(path),
            mend="give one vector per request, in the order of the log",
        )
    return unit_vectors(np.asarray(found, dtype=np.float64)).astype(np.float32)


def _savings(
    ask: CacheAsk, exact: HitTable, near: Sequence[NearHits], span_s: float
) -> tuple[tuple[str, Decimal], ...]:  # fmt: skip
    if ask.costs is None:
        return ()
    per_month = exact.requests / span_s * SECONDS_PER_HOUR * HOURS_PER_MONTH if span_s > 0 else float(exact.requests)
    distinct = exact.requests - int(exact.hits.max())
    found = []
    for size in exact.sizes:
        entries = int(min(size, distinct))
        saved = net_saving_usd_per_1k(
            ask.costs, exact.ratio(size, exact.ages_s[-1]), entries=entries, requests_per_month=per_month
        )
        found.append((size_words(size), saved))
    for hits in near:
        shares = (hits.hits / hits.requests, hits.changed / hits.requests)
        saved = net_saving_usd_per_1k(
            ask.costs,
            shares[0],
            entries=hits.requests - hits.hits,
            requests_per_month=per_month,
            changed_share=shares[1],
        )
        found.append((f"similar at {hits.threshold:g}", saved))
    return tuple(found)


def size_words(size: float) -> str:
    """Size of a cache in words."""
    return "all" if size == UNLIMITED else f"{size:,.0f}"


def _prefix_note(found: PrefixHits) -> tuple[str, ...]:
    if not found.hits[-1]:
        return ()
    blocks, whole = found.hits[-1] / found.blocks, found.whole[-1] / found.requests
    return (
        f"blocks of prompts repeat in {blocks:.1%}, whole prompts in {whole:.1%} of the requests: "
        + (
            "a cache of prefixes in the server finds more than one of answers"
            if blocks > whole
            else "answers repeat more than prefixes"
        ),
    )

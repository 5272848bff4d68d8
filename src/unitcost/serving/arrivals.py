"""From what a file states to a trace that can be played: sorted, refused and flagged with the numbers of its rows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unitcost.errors import BadFile
from unitcost.facts.arrivals import RawArrivals
from unitcost.serving.request_keys import request_keys
from unitcost.serving.traces import Ints, Trace
from unitcost.units import SECONDS_PER_DAY

#: Prompts above this are pointed at even where no limit is given. [tokens]
LONG_PROMPT_TOKENS = 2_000_000
#: Answers above this cannot be played. [tokens]
LONGEST_OUTPUT_TOKENS = 1_000_000
#: A silence above this is pointed at: a moment may be wrong. [s]
LONG_SILENCE_S = 30 * SECONDS_PER_DAY
_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something about rows of a trace.

    Parameters
    ----------
    what
        `refused`: not played. `left out`: none of the traffic. `flagged`: played, but look at it. `sorted`: put in order
        of time.
    """

    what: str
    reason: str
    rows: tuple[int, ...]

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.rows[:_SHOWN])) + (", ..." if len(self.rows) > _SHOWN else "")
        return f"{self.what}: {len(self.rows)} rows ({shown}): {self.reason}"


def checked(
    raw: RawArrivals, *, context_tokens: int | None = None, spread_s: float = 0.0, seed: int = 0
) -> tuple[Trace, list[Finding]]:
    """Trace of what can be played, and what was found.

    Parameters
    ----------
    context_tokens
        Most tokens of a prompt and its answer together; longer requests are refused. None: no limit.
    spread_s
        Requests are moved forward by a random part of this, where a file's times are rounded down to such steps. [s]

    Raises
    ------
    BadFile
        When no row is left.
    """
    findings = _grouped(
        [
            (what, row.reason, row.row)
            for what, rows in (("refused", raw.refused), ("left out", raw.left_out), ("flagged", raw.flagged))
            for row in rows
        ]
    )
    at, inputs = np.array(raw.at_s, np.float64), np.array(raw.input_tokens, np.int64)
    outputs, rows = np.array(raw.output_tokens, np.int64), np.array(raw.rows, np.int64)
    kept = np.ones(len(at), np.bool_)
    for reason, bad in _refusals(inputs, outputs, context_tokens):
        findings += _finding("refused", reason, rows[bad & kept])
        kept &= ~bad
    if not kept.any():
        raise BadFile("no row of it can be played", where=raw.name, mend="; ".join(map(str, findings[:3])))
    findings += _finding("flagged", "no output token: counted as one", rows[kept & (outputs == 0)])
    findings += _finding("flagged", "a very long prompt", rows[kept & (inputs > LONG_PROMPT_TOKENS)])
    findings += _hash_findings(raw, inputs, rows, kept)
    places = np.flatnonzero(kept)
    falls = np.flatnonzero(np.diff(at[places]) < 0) + 1
    findings += _finding("sorted", "earlier than the row before", rows[places[falls]])
    if spread_s:
        at = at + np.random.default_rng(seed).uniform(0, spread_s, len(at))
    order = places[np.argsort(at[places], kind="stable")]
    findings += _finding("flagged", "the same as the row before", rows[_repeated(raw, order)])
    silences = np.flatnonzero(np.diff(at[order]) > LONG_SILENCE_S) + 1
    findings += _finding("flagged", "after a silence of more than 30 days", rows[order[silences]])
    at = at[order] - at[order[0]]
    hashes, hash_from = _hashes(raw, order)
    trace = Trace(
        arrival_s=at, input_tokens=inputs[order], output_tokens=np.maximum(outputs[order], 1), duration_s=float(at[-1]),
        hashes=hashes, hash_from=hash_from, hash_tokens=raw.hash_tokens, keys=request_keys(raw, order), name=raw.name,
    )  # fmt: skip
    return trace, findings


def _refusals(inputs: Ints, outputs: Ints, context: int | None) -> list[tuple[str, NDArray[np.bool_]]]:
    return [
        ("a prompt without a token", inputs == 0),
        ("a negative number of tokens", (inputs < 0) | (outputs < 0)),
        (f"an answer of more than {LONGEST_OUTPUT_TOKENS:,} tokens", outputs > LONGEST_OUTPUT_TOKENS),
        (
            f"longer than the {context:,} tokens that a request may have" if context else "longer than can be counted",
            inputs + outputs > (context or 2**31 - 1),
        ),
    ]


def _hash_findings(raw: RawArrivals, inputs: Ints, rows: Ints, kept: NDArray[np.bool_]) -> list[Finding]:
    if not raw.hash_tokens:
        return []
    counts = np.array([len(row) if row else 0 for row in raw.hashes], np.int64)
    blocks = -(-inputs // raw.hash_tokens)
    odd = (counts > 0) & (counts != blocks) & (counts != inputs // raw.hash_tokens)
    return _finding("flagged", "hash ids are missing: it shares nothing", rows[kept & (counts == 0)]) + _finding(
        "flagged", "the number of hash ids does not match the prompt", rows[kept & odd]
    )


def _repeated(raw: RawArrivals, order: Ints) -> Ints:
    """Places in the file of requests that equal the one before them in time, in everything that is known."""

    def of(i: int) -> tuple[object, ...]:
        hashes = raw.hashes[i] if raw.hashes else None
        key = raw.keys[i] if raw.keys else ""
        return raw.at_s[i], raw.input_tokens[i], raw.output_tokens[i], tuple(hashes or ()), key

    return np.array([b for a, b in itertools.pairwise(order) if of(a) == of(b)], np.int64)


def _hashes(raw: RawArrivals, order: Ints) -> tuple[Ints, Ints]:
    if not raw.hash_tokens:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    listed = [raw.hashes[i] or () for i in order]
    counts = np.array([len(row) for row in listed], np.int64)
    return np.array([h for row in listed for h in row], np.int64), np.concatenate([[0], np.cumsum(counts)])


def _finding(what: str, reason: str, rows: Ints) -> list[Finding]:
    return [Finding(what=what, reason=reason, rows=tuple(int(row) for row in rows))] if len(rows) else []


def _grouped(items: Sequence[tuple[str, str, int]]) -> list[Finding]:
    found: dict[tuple[str, str], list[int]] = {}
    for what, reason, row in items:
        found.setdefault((what, reason), []).append(row)
    return [Finding(what=what, reason=reason, rows=tuple(rows)) for (what, reason), rows in found.items()]

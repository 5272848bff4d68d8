"""Requests over time as a file states them, before anybody has looked whether they can be true."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedRow:
    """A row that says nothing usable, or of which something else is to be said."""

    row: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RawArrivals:
    """Columns of a trace, in the order of the file.

    Parameters
    ----------
    at_s
        Seconds since any moment, the same for all rows. [s]
    input_tokens, output_tokens
        As they stand in the file.
    rows
        Number of each row in the file: the first line is 1.
    hashes
        Hashes of the prompt's blocks by row; None where a row has none. Empty when no row has any.
    hash_tokens
        Tokens that such a block holds; 0 without hashes.
    keys
        What each request asks, for a cache of answers; empty when the file does not say.
    tenants, models
        Who asked, and which model; empty when the file does not say.
    refused
        Rows that are in none of the columns.
    left_out, flagged
        Rows that are none of the traffic, such as failed calls; rows in the columns of which something is to be known.
    """

    name: str
    at_s: array[float] = field(default_factory=lambda: array("d"))
    input_tokens: array[int] = field(default_factory=lambda: array("q"))
    output_tokens: array[int] = field(default_factory=lambda: array("q"))
    rows: array[int] = field(default_factory=lambda: array("q"))
    hashes: Sequence[Sequence[int] | None] = ()
    hash_tokens: int = 0
    keys: Sequence[str] = ()
    tenants: Sequence[str] = ()
    models: Sequence[str] = ()
    refused: Sequence[RefusedRow] = ()
    left_out: Sequence[RefusedRow] = ()
    flagged: Sequence[RefusedRow] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RateCurve:
    """How many requests a second came in each part of a time.

    Parameters
    ----------
    step_s
        Length of a part. [s]
    per_s
        Mean rate by part. [1 / s]
    """

    name: str
    step_s: float
    per_s: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthQuantiles:
    """Lengths of prompts or answers of one client.

    Parameters
    ----------
    shares, tokens
        Quantiles: so many tokens or fewer has this share of the requests; both rise.
    group
        Set that the client is of; empty: the file has no sets.
    """

    client: str
    field: str
    mean: float
    shares: Sequence[float]
    tokens: Sequence[float]
    group: str = ""

"""Cells of traces: moments and counts of tokens."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

from unitcost.units import MICROSECONDS_PER_SECOND, MILLISECONDS_PER_SECOND, NANOSECONDS_PER_MICROSECOND

_FINE = re.compile(r"(\.\d{6})\d+")


#: Numbers from here on are no seconds since 1970 (nor of a trace): milliseconds, microseconds, nanoseconds.
_FINER = (
    (1e17, NANOSECONDS_PER_MICROSECOND * MICROSECONDS_PER_SECOND),
    (1e14, MICROSECONDS_PER_SECOND),
    (1e11, MILLISECONDS_PER_SECOND),
)


def since_start(number: float) -> float:
    """Moment as seconds; a number that would be later than the year 5000 states smaller units since 1970. [s]."""
    return next((number / per for least, per in _FINER if number >= least), number)


def seconds(text: str) -> float:
    """Moment as seconds: a number is seconds already (see `since_start`), a time without a zone is UTC. [s].

    Raises
    ------
    ValueError
        When it is neither.
    """
    stripped = text.strip()
    try:
        number = float(stripped)
    except ValueError:
        moment = datetime.fromisoformat(_FINE.sub(r"\1", stripped))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if not math.isfinite(number):
        raise ValueError(f"{stripped!r} is no moment")
    return since_start(number)


def tokens(text: str) -> int:
    """Whole number of tokens, `512` or `512.0`.

    Raises
    ------
    ValueError
        When it is none.
    """
    number = float(text)
    if not number.is_integer() or abs(number) > 2**53:
        raise ValueError(f"{text.strip()!r} is no whole number")
    return int(number)

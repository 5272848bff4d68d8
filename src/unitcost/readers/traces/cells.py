"""Cells of traces: moments and counts of tokens."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

_FINE = re.compile(r"(\.\d{6})\d+")


def seconds(text: str) -> float:
    """Moment as seconds: a number is seconds already, a time without a zone is UTC. [s].

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
    return number


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

"""Sources that answer now: each is asked for a window of time, and its answers become a file like any other.

A live source is written `NAME+URL`, such as `prometheus+http://localhost:9090` or `mlflow+sqlite:///mlflow.db`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast
from urllib.parse import urlsplit

from unitcost.errors import BadSetting, UnknownName
from unitcost.readers.moments import utc_moment
from unitcost.units import SECONDS_PER_DAY, SECONDS_PER_HOUR, SECONDS_PER_MINUTE

_WRITTEN = re.compile(r"(?P<name>[a-z][a-z0-9-]*)\+(?P<url>(?:https?|sqlite|file)://.*)", re.IGNORECASE | re.DOTALL)
_STEP = re.compile(r"(?P<count>\d{1,7})(?P<unit>[smhd]?)")
_STEP_UNITS_S = {"s": 1, "m": SECONDS_PER_MINUTE, "h": SECONDS_PER_HOUR, "d": SECONDS_PER_DAY}
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")

#: Told how many of how many questions are answered.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Which time is asked for: `[start, end)` in UTC, None = open, and how far apart samples are to be [s]."""

    start: datetime | None = None
    end: datetime | None = None
    step_s: int = 60


class LiveSource(Protocol):
    """A module of this shape asks one kind of live source.

    Parameters
    ----------
    SUFFIX
        How the names of its files end, such as `.jsonl`.
    """

    SUFFIX: str

    def fetch(self, url: str, window: Window, target: Path, progress: Progress | None = None) -> None:
        """Write what the source at `url` knows of the window into `target`, in a format that a reader knows.

        Raises
        ------
        BadFile
            When the source cannot be reached or answers what cannot be used.
        NeedsAnswer
            When it needs a window that has both ends.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A live source as it is written: its kind, and the URL of the source itself."""

    name: str
    url: str

    @property
    def shown(self) -> str:
        """The same for messages and records: without user and password."""
        return f"{self.name}+{without_login(self.url)}"

    def file_name(self, window: Window, suffix: str) -> str:
        """Name of the file that holds the answers: the same for the same question."""
        ends = [f"{moment:%Y%m%dT%H%M%SZ}" if moment else "open" for moment in (window.start, window.end)]
        plain = without_login(self.url)
        place = _UNSAFE.sub("-", plain.partition("://")[2]).strip("-.")[-80:]
        digest = hashlib.sha256(plain.encode()).hexdigest()[:8]
        return f"{self.name}-{place}-{digest}-{ends[0]}-{ends[1]}-{window.step_s}s{suffix}"


def address_of(text: str) -> Address | None:
    """The live source that a text names, or None when it is a path."""
    match = _WRITTEN.fullmatch(text)
    return Address(name=match["name"].lower(), url=match["url"]) if match else None


def source_of(address: Address) -> LiveSource:
    """Module that asks a live source.

    Raises
    ------
    UnknownName
        When nothing here knows its kind.
    """
    if address.name not in LIVE:
        raise UnknownName("live source", address.name, LIVE, where=address.shown)
    known = LIVE[address.name]
    return cast(LiveSource, import_module(known)) if isinstance(known, str) else known


def window_of(start: str, end: str, step: str) -> Window:
    """Window as it is written: ISO moments, which are UTC where they name no zone, and a step such as 30s, 5m or 1h.

    Raises
    ------
    BadSetting
        When one of them cannot be read, or the window has no length.
    """
    match = _STEP.fullmatch(step.strip())
    if not match:
        raise BadSetting(f"the step is {step!r}", where="--step", mend="write it as 30s, 5m or 1h")
    step_s = int(match["count"]) * _STEP_UNITS_S[match["unit"] or "s"]
    return check_window(Window(start=_moment(start, "--start"), end=_moment(end, "--end"), step_s=step_s))


def _moment(text: str, where: str) -> datetime | None:
    try:
        return utc_moment(text, UTC) if text else None
    except ValueError as error:
        raise BadSetting(str(error), where=where, mend="write it as 2026-09-01 or 2026-09-01T10:00:00Z") from None


def check_window(window: Window) -> Window:
    """Return the window when its start is before its end and its step is positive.

    Raises
    ------
    BadSetting
        Otherwise.
    """
    if window.step_s <= 0:
        raise BadSetting(f"the step is {window.step_s} s", where="--step", mend="give a positive one, such as 60s")
    if window.start and window.end and window.start >= window.end:
        raise BadSetting(
            f"the window ends at {window.end:%Y-%m-%dT%H:%M:%SZ}, not after its start", where="--end",
            mend="the end is exclusive: give a later one",
        )  # fmt: skip
    return window


def without_login(url: str) -> str:
    """URL without user and password."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl() if "@" in parts.netloc else url


#: Kind of live source -> what asks it: a module, or the name of one that is imported when it is used.
LIVE: dict[str, LiveSource | str] = {
    "mlflow": "unitcost.readers.live.mlflow",
}

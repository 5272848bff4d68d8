"""Local times: which moment is meant where the clocks were set back."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import cast

from unitcost.errors import NeedsAnswer
from unitcost.facts.source import ReadOptions
from unitcost.facts.zones import zone_of
from unitcost.readers.work.cells import BadCellError
from unitcost.readers.work.sink import FIRST_YEAR, LAST_YEAR

_HOUR = timedelta(hours=1)
#: No clock is set twice within it.
_MARGIN = timedelta(hours=2)
_NEVER = frozenset({"", "unknown", "none", "n/a", "null", "0"})


@dataclass(slots=True)
class LocalTimes:
    """Turns the local times of a file into moments.

    Parameters
    ----------
    zone
        Of times that name none; None when nobody has said.
    where
        The file, for the question.
    folds_settled, folds_open
        Periods with an end in an hour that came twice: the length told which was meant, or it did not (then the
        first is taken).
    skipped
        Times in an hour that the clocks left out.
    """

    zone: tzinfo | None
    where: str
    folds_settled: int = 0
    folds_open: int = 0
    skipped: int = 0
    _fixed: bool = field(init=False)
    _plain_hours: dict[tuple[int, int], timedelta | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._fixed = self.zone is None or self.zone.utcoffset(None) is not None

    @classmethod
    def of(cls, options: ReadOptions, where: str) -> LocalTimes:
        """Times in the zone that the user names."""
        return cls(zone=zone_of(options.timezone, where=where) if options.timezone else None, where=where)

    def period(
        self, start: str, end: str, length: timedelta | None, *, columns: tuple[str, str] = ("Start", "End")
    ) -> tuple[datetime | None, datetime | None]:
        """Start and end in UTC, None where they are not known.

        Parameters
        ----------
        start, end
            As they are written.
        length
            How long the period is, where something else tells.
        columns
            Where they stand, for messages.

        Raises
        ------
        BadCellError
            When one is no moment, or the end lies before the start.
        NeedsAnswer
            When one names no zone and nobody has said which.
        """
        first, last = self._written(columns[0], start), self._written(columns[1], end)
        if self._fixed or (first is None and last is None):
            began, ended = self._utc(first), self._utc(last)
        else:
            began, ended = self._settled(self._readings(first), self._readings(last), length)
        if began is not None and ended is not None and ended < began:
            raise BadCellError(columns[1], end, f"{end!r} lies before the start {start!r}")
        return began, ended

    def _written(self, column: str, text: str) -> datetime | None:
        if text.casefold() in _NEVER:
            return None
        try:
            moment = datetime.fromtimestamp(int(text), UTC) if text.isdigit() else datetime.fromisoformat(text)
        except (ValueError, OverflowError, OSError):
            raise BadCellError(column, text, f"{text!r} is not a moment such as 2026-09-01T10:00:00") from None
        if not FIRST_YEAR <= moment.year < LAST_YEAR:
            raise BadCellError(column, text, f"{text!r} is not a date between {FIRST_YEAR} and {LAST_YEAR}")
        if moment.tzinfo is None and self.zone is None:
            raise NeedsAnswer(
                f"{text!r} in '{column}' is local time of an unknown zone", where=self.where,
                mend='say timezone = "Europe/Berlin" (or "UTC") in [[load]], or --source-timezone Europe/Berlin',
            )  # fmt: skip
        return moment

    def _utc(self, moment: datetime | None) -> datetime | None:
        if moment is None or moment.tzinfo is UTC:
            return moment
        return (moment if moment.tzinfo else moment.replace(tzinfo=self.zone)).astimezone(UTC)

    def _readings(self, moment: datetime | None) -> list[datetime | None]:
        """Moments that a local time can mean: two in an hour that came twice."""
        if moment is None or moment.tzinfo is not None:
            return [self._utc(moment)]
        key = (moment.toordinal(), moment.hour)
        if key not in self._plain_hours:
            self._plain_hours[key] = self._plain_offset(moment.replace(minute=0, second=0, microsecond=0))
        offset = self._plain_hours[key]
        if offset is not None:
            return [(moment - offset).replace(tzinfo=UTC)]
        first, second = self._utc(moment), self._utc(moment.replace(fold=1))
        if first == second or first is None:
            return [first]
        if first.astimezone(self.zone).replace(tzinfo=None) != moment:
            self.skipped += 1
            return [first]
        return [first, second]

    def _plain_offset(self, hour: datetime) -> timedelta | None:
        """Offset of the zone in an hour in which no clock is set; None in any other."""
        zone = cast(tzinfo, self.zone)
        seen = (hour - _MARGIN, hour, hour + _HOUR, hour + _HOUR + _MARGIN)
        offsets = {zone.utcoffset(moment.replace(fold=fold)) for moment in seen for fold in (0, 1)}
        return offsets.pop() if len(offsets) == 1 else None

    def _settled(
        self, firsts: list[datetime | None], lasts: list[datetime | None], length: timedelta | None
    ) -> tuple[datetime | None, datetime | None]:
        ways = [(first, last) for first in firsts for last in lasts]
        if len(ways) == 1:
            return ways[0]
        right = [way for way in ways if way[0] and way[1] and way[1] - way[0] == length]
        if len(right) == 1:
            self.folds_settled += 1
            return right[0]
        self.folds_open += 1
        if right:
            return right[0]
        forward = [way for way in ways if not (way[0] and way[1] and way[1] < way[0])]
        return forward[0] if forward else ways[0]

    def flags(self) -> tuple[str, ...]:
        """What is to be said about the clocks."""
        counts = (self.folds_settled, self.folds_open, self.skipped)
        return tuple(sentence.format(n=f"{n:,}") for n, sentence in zip(counts, _SENTENCES, strict=True) if n)


_SENTENCES = (
    "Periods that touch the hour that came twice, where their length tells which one is meant: {n}.",
    "Periods that touch the hour that came twice, where nothing tells which one is meant, so the first is taken: {n}.",
    "Times in the hour that the clocks left out, read as if they had not been set forward: {n}.",
)

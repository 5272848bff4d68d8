"""Moments written in a cell, for the readers that must compute with them."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo


def utc_moment(text: str, zone: tzinfo | None) -> datetime:
    """Moment in UTC; one that names no zone is in `zone`, and a plain date its midnight there (in UTC without one).

    Raises
    ------
    ValueError
        When the text is no ISO moment, or names no zone and none is given.
    """
    written = text.strip().removesuffix(" UTC")
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        raise ValueError(f"{text.strip()!r} is not an ISO date such as 2026-09-01T10:00:00Z") from None
    if moment.tzinfo is None:
        if written != text.strip() or (zone is None and len(written) <= len("2026-09-01")):
            zone = UTC
        if zone is None:
            raise ValueError(f"{text.strip()!r} is local time of an unknown zone")
        moment = moment.replace(tzinfo=zone)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{text.strip()!r} is no date that a bill can have") from None

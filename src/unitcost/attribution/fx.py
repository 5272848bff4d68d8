"""Dated exchange rates: without one, amounts of another currency stay apart."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from unitcost.facts.rules import FxRate


def rate_in_force(rates: Sequence[FxRate], currency: str, since: date | None) -> FxRate | None:
    """Rate of a currency that applies to charges whose newest rate change was on `since`.

    Parameters
    ----------
    rates
        All rates, of any currency.
    since
        Latest day among all rates on or before the charge, or the day of the charge itself; None when the charge
        is older than all.

    Returns
    -------
    FxRate or None
        None when no rate of this currency was in force then.
    """
    if since is None:
        return None
    usable = [rate for rate in rates if rate.currency == currency and rate.since <= since]
    return max(usable, key=lambda rate: rate.since, default=None)


def rate_days(rates: Sequence[FxRate]) -> tuple[date, ...]:
    """Days on which some rate begins to apply, in order."""
    return tuple(sorted({rate.since for rate in rates}))

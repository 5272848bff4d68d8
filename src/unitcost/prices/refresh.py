"""Read feeds again and keep what they list now. One that fails keeps its older prices, and no kept record changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Literal

from unitcost.errors import UnitcostError
from unitcost.facts.offers import Finding
from unitcost.facts.prices import PriceRecord
from unitcost.prices import genai, recording
from unitcost.prices.book import PriceBook, Wanted
from unitcost.prices.feeds.asking import Asked, Feed, Fetch, changed
from unitcost.prices.genai import GenaiPrices
from unitcost.prices.store import PriceStore

#: What a feed of another form than the adapter knows may raise, besides an error of this project.
_STRANGE = (ValueError, LookupError, TypeError, AttributeError)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedOutcome:
    """What came of reading one feed.

    Parameters
    ----------
    status
        `read`: its prices are kept. `failed`: nothing of it is; older prices stay.
    reason
        Why it failed.
    prices, news
        Prices that it lists; those that differ from what was in force, or are new.
    findings
        What the checks found.
    """

    feed: str
    status: Literal["read", "failed"]
    reason: str = ""
    prices: int = 0
    news: int = 0
    findings: tuple[Finding, ...] = ()


def refresh(
    feeds: Sequence[Feed],
    fetch: Fetch,
    *,
    book: PriceBook,
    store: PriceStore,
    now: datetime,
    regions: Sequence[str] = (),
    everything: bool = False,
) -> Iterator[FeedOutcome]:
    """Read feeds one after the other.

    Parameters
    ----------
    fetch
        Gives the body behind an address.
    book
        What is known: machines, prices in force.
    store
        Where prices are kept.
    regions
        Regions or globs; empty = those of the book.
    everything
        Whether machines are kept that the book does not know and that have no accelerator.
    """
    for feed in feeds:
        try:
            yield _machines(feed, fetch, book, store, now, regions, everything)
        except (UnitcostError, OSError, *_STRANGE) as error:
            yield _failed(feed.name, error)


def refresh_models(fetch: Fetch, *, store: PriceStore, now: datetime) -> FeedOutcome:
    """Read the list of models again."""
    try:
        data = fetch(genai.DATA_URL)
        day = now.date().isoformat()
        read = GenaiPrices.read(data, revision=day, observed=day)
        models = sum(1 for _ in read.entries())
        if not models:
            raise changed(genai.NAME, "it lists no model with a price")
        store.keep_models(genai.NAME, now, data)
    except (UnitcostError, OSError, *_STRANGE) as error:
        return _failed(genai.NAME, error)
    return FeedOutcome(feed=genai.NAME, status="read", prices=models)


def _machines(
    feed: Feed,
    fetch: Fetch,
    book: PriceBook,
    store: PriceStore,
    now: datetime,
    regions: Sequence[str],
    everything: bool,
) -> FeedOutcome:
    known = book.machines()
    asked = Asked(day=now.date().isoformat(), regions=_regions(book, feed, regions))
    listings = [
        listing
        for listing in feed.read(fetch, asked)
        if everything or listing.accelerator or (listing.provider, listing.instance_type) in known
    ]
    if not listings:
        raise changed(feed.name, "it lists nothing that is asked for")
    in_force = book.in_force(Wanted(kind="instance", provider=feed.provider), now)
    current = {item.record.key: item.record for item in in_force}
    linux = {
        (r.provider, r.region, r.sku): r.price for r in current.values() if r.category == "Standard" and not r.zone
    }
    done = recording.record(listings, shapes=known, linux=linux)
    if not done.records:
        raise changed(feed.name, "no price in it passes the checks")
    shapes = [s for s in done.shapes if (s.provider, s.instance_type) not in known]
    store.keep(feed.name, now, done.records, shapes)
    return FeedOutcome(
        feed=feed.name, status="read", prices=len(done.records), news=_news(done.records, current),
        findings=done.findings,
    )  # fmt: skip


def _news(records: Iterable[PriceRecord], current: dict[tuple[str, ...], PriceRecord]) -> int:
    return sum(r.key not in current or current[r.key].tiers != r.tiers for r in records)


def _regions(book: PriceBook, feed: Feed, globs: Sequence[str]) -> tuple[str, ...]:
    """Regions to ask for: those of the book that a glob names, and what is named itself."""
    if not feed.by_region:
        return tuple(globs)
    known = sorted({record.region for record in book.records(Wanted(kind="instance", provider=feed.provider))} - {""})
    if not globs:
        return tuple(known)
    named = [glob for glob in globs if not any(sign in glob for sign in "*?[")]
    fitting = [r for r in known if any(fnmatchcase(r.casefold(), glob.casefold()) for glob in globs)]
    return tuple(dict.fromkeys([*named, *fitting]))


def _failed(name: str, error: Exception) -> FeedOutcome:
    told = str(error) if isinstance(error, UnitcostError | OSError) else f"it is not of the known form: {error!r}"
    return FeedOutcome(feed=name, status="failed", reason=told)

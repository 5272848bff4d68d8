"""Read public price feeds again, when the user asks for it; the only work that reaches the network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from unitcost.errors import UnknownName
from unitcost.jobs.prices import open_book, price_store
from unitcost.jobs.workspace import Workspace
from unitcost.prices import genai
from unitcost.prices.feeds import FEEDS
from unitcost.prices.feeds.asking import Fetch
from unitcost.prices.feeds.client import http_fetch
from unitcost.prices.refresh import FeedOutcome, refresh, refresh_models


def feed_names() -> list[str]:
    """Names of all feeds."""
    return [*FEEDS, genai.NAME]


def refresh_prices(
    workspace: Workspace,
    names: Sequence[str] = (),
    *,
    regions: Sequence[str] = (),
    everything: bool = False,
    fetch: Fetch | None = None,
    tell: Callable[[str], None] | None = None,
) -> list[FeedOutcome]:
    """Read feeds and keep their prices in the workspace.

    Parameters
    ----------
    names
        Feeds; empty = all.
    regions
        Regions or globs; empty = those that the book knows.
    everything
        Whether machines are kept that the book does not know and that have no accelerator.
    fetch
        Gives the body behind an address; None = over HTTP.
    tell
        Told the name of each feed before it is read.

    Raises
    ------
    UnknownName
        When there is no such feed.
    """
    for name in names:
        if name not in feed_names():
            raise UnknownName("feed", name, feed_names())
    wanted = list(dict.fromkeys(names or feed_names()))
    if fetch is not None:
        return list(_outcomes(workspace, wanted, regions, everything, fetch, tell))
    with http_fetch() as over_http:
        return list(_outcomes(workspace, wanted, regions, everything, over_http, tell))


def _outcomes(
    workspace: Workspace, names: Sequence[str], regions: Sequence[str], everything: bool, fetch: Fetch,
    tell: Callable[[str], None] | None,
) -> Iterator[FeedOutcome]:  # fmt: skip
    store = price_store(workspace)
    book = open_book(workspace)
    for name in names:
        if tell:
            tell(name)
        if name == genai.NAME:
            yield refresh_models(fetch, store=store, now=workspace.now)
        else:
            yield from refresh(
                [FEEDS[name]], fetch, book=book, store=store, now=workspace.now, regions=regions, everything=everything
            )

"""What a feed is asked for, how it gets bytes, and what it gives back."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any

from unitcost import money
from unitcost.errors import BadPrice
from unitcost.facts.offers import Listing

#: Gives the body behind an address; raises OSError or its heirs when it cannot.
Fetch = Callable[[str], bytes]
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked for.

    Parameters
    ----------
    day
        Day of reading, ISO.
    regions
        Regions, for feeds that have one document for each; other feeds leave out what is not among them.
    """

    day: str
    regions: tuple[str, ...] = ()

    def wants(self, region: str) -> bool:
        """Whether a region is asked for."""
        return not self.regions or any(fnmatchcase(region.casefold(), glob.casefold()) for glob in self.regions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """A source that can be read again.

    Parameters
    ----------
    name
        As the user names it.
    provider
        Whose prices it lists; decides which regions of the book are asked for by default.
    read
        The adapter: what the source lists now.
    licence
        Under which the figures are given.
    by_region
        Whether it has a document for each region, so that regions must be named.
    """

    name: str
    provider: str
    read: Callable[[Fetch, Asked], Iterable[Listing]]
    licence: str
    by_region: bool = False


def as_json(body: bytes, where: str) -> Any:
    """JSON of a body, numbers as exact decimals; a body may be gzip without saying so.

    Raises
    ------
    BadPrice
        When it is none.
    """
    try:
        return json.loads(unzipped(body), parse_float=Decimal)
    except (ValueError, OSError, EOFError) as error:
        raise changed(where, f"is no JSON: {error}") from None


def unzipped(body: bytes) -> bytes:
    """The body, decompressed where it is gzip."""
    return gzip.decompress(body) if body.startswith(_GZIP) else body


def price_of(text: Any) -> Decimal | None:
    """Price as a source writes it: text or number; None for nothing and for marks such as `N/A*`."""
    if isinstance(text, Decimal):
        return text
    try:
        return money.parse_amount(str(text))
    except ValueError:
        return None


def changed(where: str, what: str) -> BadPrice:
    """The error for a feed that is not of the form that its adapter reads."""
    return BadPrice(what, where=where, mend="the feed may have changed its form; older prices are kept")

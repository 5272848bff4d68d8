"""The one place that reaches the network, and only when a refresh is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from unitcost.prices.feeds.asking import Fetch

_TIMEOUT_S = 60.0
_RETRIES = 3


@contextmanager
def http_fetch() -> Iterator[Fetch]:
    """A fetch over HTTP that follows redirects, tries a lost connection again and takes no error page for an answer.

    Raises
    ------
    OSError
        From the fetch, when an address cannot be read.
    """
    import httpx2

    transport = httpx2.HTTPTransport(retries=_RETRIES)
    headers = {"User-Agent": "unitcost"}
    with httpx2.Client(transport=transport, timeout=_TIMEOUT_S, follow_redirects=True, headers=headers) as client:

        def fetch(url: str) -> bytes:
            try:
                answer = client.get(url)
                answer.raise_for_status()
            except httpx2.HTTPError as error:
                raise OSError(f"{url}: {error}") from error
            return bytes(answer.content)

        yield fetch

"""Asking a server over HTTP: bounded in time and tries, whole answers only, no other host."""

from __future__ import annotations

import base64
import http.client
import json
import os
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, cast
from urllib.parse import unquote, urlencode, urlsplit

from unitcost.errors import BadFile
from unitcost.readers.live import without_login
from unitcost.units import MIB

#: Environment variable with a bearer token.
TOKEN_VARIABLE = "UNITCOST_PROMETHEUS_TOKEN"
_TIMEOUT_S = 60.0
_TRIES = 4
_PAUSE_S = 1.0
#: Answers after which asking again may help.
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_IN_MEMORY = 8 * MIB
_HEAD = 4096
_TOO_LARGE = ("too many samples", "maximum resolution", "exceeded maximum", "too large", "limit")


class Refused(BadFile):
    """The server understood and refused; `too_large` when it was asked for too much at once."""

    too_large = False


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: it could send a login to another host."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> None:
        """Follow nothing."""


class Server:
    """One server; a path in its URL is kept, a login in it is sent to it alone."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.shown = without_login(url).rstrip("/")
        self._headers = {"Accept": "application/json", "User-Agent": "unitcost"}
        token = os.environ.get(TOKEN_VARIABLE, "")
        if parts.username:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            self._headers["Authorization"] = "Basic " + base64.b64encode(login.encode()).decode()
        elif token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._opener = urllib.request.build_opener(_NoRedirects)

    def get_json(self, path: str, parameters: Mapping[str, str]) -> Any:
        """A small answer, as data; raises as `get` does."""
        with self.get(path, parameters) as body:
            return json.load(body)

    @contextmanager
    def get(self, path: str, parameters: Mapping[str, str]) -> Iterator[IO[bytes]]:
        """Body of a whole and successful answer.

        Raises
        ------
        Refused
            When the server says what is wrong with the question.
        BadFile
            When it cannot be reached, or does not answer as Prometheus does.
        """
        request = urllib.request.Request(f"{self.shown}/{path}?{urlencode(parameters)}", headers=self._headers)
        with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as body:
            self._fetch(request, cast("IO[bytes]", body), parameters)
            body.seek(0)
            yield cast("IO[bytes]", body)

    def _fetch(self, request: urllib.request.Request, body: IO[bytes], parameters: Mapping[str, str]) -> None:
        what = parameters.get("query", "")
        for attempt in range(1, _TRIES + 1):
            try:
                with self._opener.open(request, timeout=_TIMEOUT_S) as response:
                    _copy(response, body)
                break
            except urllib.error.HTTPError as error:
                with error:
                    if error.code not in _PASSING or attempt == _TRIES:
                        raise self._refused(error, what) from error
            except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
                if attempt == _TRIES or _is_final(error):
                    raise self._unreachable(error) from error
            time.sleep(_PAUSE_S * attempt)
        self._check(body)

    def _check(self, body: IO[bytes]) -> None:
        body.seek(0)
        head = body.read(_HEAD).lstrip()
        if not head.startswith(b"{") or b'"success"' not in head:
            raise BadFile(
                "the server answers, but not as Prometheus does", where=self.shown,
                mend="check the address and the path in it; a page to log in is no answer",
            )  # fmt: skip

    def _refused(self, error: urllib.error.HTTPError, what: str) -> BadFile:
        reason = _reason(error)
        if 300 <= error.code < 400:
            place = without_login(error.headers.get("Location", ""))
            return BadFile(
                f"the server sends on to {place or 'another address'}, which is not followed", where=self.shown,
                mend="give the address that answers",
            )  # fmt: skip
        if error.code in (401, 403):
            return BadFile(
                f"the server wants to know who asks ({error.code} {error.reason})", where=self.shown,
                mend=f"write http://USER:PASSWORD@host, or set {TOKEN_VARIABLE}",
            )  # fmt: skip
        about = f" `{what}`" if what else ""
        refused = Refused(
            f"the server refuses{about}: {reason or f'{error.code} {error.reason}'}", where=self.shown,
            mend="ask for a shorter window or a longer --step, or check the address",
        )  # fmt: skip
        refused.too_large = error.code in (400, 413, 422) and any(sign in reason.casefold() for sign in _TOO_LARGE)
        return refused

    def _unreachable(self, error: Exception) -> BadFile:
        reason = getattr(error, "reason", None) or error
        words = "it did not answer in time" if isinstance(reason, TimeoutError) else str(reason) or type(error).__name__
        return BadFile(
            f"the server cannot be reached, or its answer ends early ({words})", where=self.shown,
            mend="check the address, that the server is running, and the step: long answers take long",
        )  # fmt: skip


def _copy(response: http.client.HTTPResponse, body: IO[bytes]) -> None:
    body.seek(0)
    body.truncate()
    size = 0
    while block := response.read(MIB):
        body.write(block)
        size += len(block)
    stated = response.headers.get("Content-Length")
    if stated is not None and stated.isdigit() and size != int(stated):
        raise http.client.IncompleteRead(b"", int(stated) - size)


def _is_final(error: Exception) -> bool:
    """Whether asking again is of no use: a name that does not exist, or a certificate that is not trusted."""
    reason = getattr(error, "reason", None)
    return type(reason).__name__ in ("gaierror", "SSLCertVerificationError") or isinstance(
        error, http.client.InvalidURL
    )


def _reason(error: urllib.error.HTTPError) -> str:
    """What the server says is wrong."""
    text = error.read(_HEAD).decode("utf-8", "replace")
    try:
        answer = json.loads(text)
    except ValueError:
        return " ".join(text.split())[:200]
    return str(answer.get("error", "")) if isinstance(answer, dict) else ""

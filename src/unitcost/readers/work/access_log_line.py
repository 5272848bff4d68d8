"""One line of an access log: when, which service, which status."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from unitcost.readers.moments import utc_moment
from unitcost.units import MILLISECONDS_PER_SECOND

#: `host ident user [time] "request" status bytes`, with a virtual host before it and anything behind.
LINE = re.compile(
    r"(?:(?P<vhost>[A-Za-z0-9._-]+(?::\d+)?) )?\S+ \S+ \S+ \[(?P<time>\d{1,2}/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] "
    r'"(?P<request>(?:[^"\\]|\\.)*)" (?P<status>\d{3}|-) (?:\d+|-)(?: .*)?'
)
_TIME = "%d/%b/%Y:%H:%M:%S %z"
_REQUEST = re.compile(r"(?:[A-Z]+ )?(?P<target>\S+)(?: HTTP/[\d.]+)?")
#: Members of JSON lines, as nginx, Envoy, Traefik, Caddy and others name them; the first that is there counts.
TIMES = (
    "time", "timestamp", "@timestamp", "ts", "time_iso8601", "time_local", "start_time", "StartUTC", "msec", "date",
)  # fmt: skip
STATUSES = (
    "status",
    "status_code",
    "response_code",
    "DownstreamStatus",
    "response.status",
    "http.status_code",
    "httpRequest.status",
)
SERVICES = ("service", "service_name", "ServiceName", "upstream_cluster", "endpoint", "model", "upstream_name")
HOSTS = ("host", "http_host", "authority", ":authority", "vhost", "RequestHost", "request.host", "server_name")
TARGETS = (
    "path",
    "request_uri",
    "uri",
    "RequestPath",
    "request.uri",
    "url",
    "request",
    "http.target",
    "httpRequest.requestUrl",
)
#: Where a path names the model or endpoint.
_NAMES = (
    re.compile(r"/v[12]/models/(?P<name>[^/:]+)"),  # KServe, TensorFlow Serving, Triton
    re.compile(r"/endpoints/(?P<name>[^/]+)/invocations"),  # SageMaker, Databricks
    re.compile(r"/(?:predictions|models)/(?P<name>[^/:]+)"),  # TorchServe
    re.compile(r"/openai/deployments/(?P<name>[^/]+)"),  # Azure OpenAI
)
#: Questions of watchers, not of users.
_WATCHED = re.compile(
    r"/(?:(?:[^?]*/)?(?:healthz?|livez?|readyz?|liveness|readiness|ping|metrics|favicon\.ico|robots\.txt)|"
    r"v2/(?:health/\w+|models/[^/]+/ready)|v1/models/[^/:]+)/?"
)
_DIGITS_OF_SECONDS = 11


class Call(NamedTuple):
    """A request: when it was logged, what it asked, and the status of its answer."""

    at: datetime
    service: str
    status: int
    is_watching: bool


def of_text(line: str) -> Call:
    """Request of a line in the common or combined format.

    Raises
    ------
    ValueError
        When the line is in none of them.
    """
    found = LINE.fullmatch(line)
    if not found:
        raise ValueError("the line is not of the common log format")
    at = _log_moment(found["time"])
    service, is_watching = _asked(found["vhost"] or "", found["request"])
    return Call(at, service, _status(found["status"]), is_watching)


def of_members(said: Mapping[str, str]) -> Call:
    """Request of a JSON line.

    Raises
    ------
    ValueError
        When it has no time or no status, or they cannot be read.
    """
    service, is_watching = _asked(_first(said, HOSTS), _first(said, TARGETS))
    named = _first(said, SERVICES)
    return Call(_moment(_first(said, TIMES)), named or service, _status(_first(said, STATUSES)), is_watching)


@lru_cache(maxsize=4_096)
def _asked(host: str, request: str) -> tuple[str, bool]:
    """Model that the path names, else the host, else the first part of the path; and whether a watcher asks."""
    path = _path(request)
    named = next((found["name"] for pattern in _NAMES if (found := pattern.search(path))), "")
    service = named or host.partition(":")[0] or path.strip("/").partition("/")[0] or "/"
    return service, _WATCHED.fullmatch(path) is not None


def _path(request: str) -> str:
    found = _REQUEST.fullmatch(request.strip())
    try:
        path = unquote(urlsplit(found["target"]).path) if found else ""
    except ValueError:  # what no address can be, as port scanners send it
        return ""
    return path if path.startswith("/") else ""


def _status(text: str) -> int:
    digits = text.removesuffix(".0")
    if not digits.isdigit() or not 100 <= int(digits) <= 599:
        raise ValueError(f"{text!r} is no status of an answer")
    return int(digits)


def _moment(text: str) -> datetime:
    if not text:
        raise ValueError("the line names no time")
    whole, _, _ = text.partition(".")
    if "/" in text:
        return _log_moment(text)
    if not whole.isdigit():
        return utc_moment(text, None)
    seconds = float(text) if len(whole) < _DIGITS_OF_SECONDS else float(text) / MILLISECONDS_PER_SECOND
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        raise ValueError(f"{text!r} is not a moment of a log") from None


@lru_cache(maxsize=1_024)
def _log_moment(text: str) -> datetime:
    try:
        return datetime.strptime(text, _TIME).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is not a moment of a log") from None


def _first(said: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((said[name] for name in names if said.get(name)), "")

"""Text scrapes: the exposition format of Prometheus and OpenMetrics, one line at a time.

Lines are taken apart here: the parser of `prometheus_client` gives up at the first bad line, takes the number of an
exemplar for a time, and is several times slower.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from unitcost.readers.opening import Source, text_of
from unitcost.readers.tables import ROW_LIMIT
from unitcost.readers.work.prometheus_answers import Broken, Series, Told

_NAME = r"[A-Za-z_:][A-Za-z0-9_:]*"
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_LABEL = re.compile(rf"\s*(?P<name>{_NAME}|{_QUOTED})\s*(?:=\s*(?P<value>{_QUOTED}))?\s*(?:,|$)")
SAMPLE = re.compile(
    rf"(?P<name>{_NAME})?(?:\s*\{{(?P<labels>(?:[^\"{{}}]|{_QUOTED})*)\}}\s*|\s+)"
    r"(?P<value>[^\s#{}]+)(?:\s+(?P<time>[-+0-9.eE]+))?(?:\s+#\s*\{.*)?\s*"
)
_HELP = re.compile(rf"#\s*HELP\s+(?P<name>{_NAME}|{_QUOTED})\s+(?P<text>.*)")
_SCRAPED_AT = re.compile(r"#\s*scraped_at\b[:=\s]*(?P<time>\S+)", re.IGNORECASE)
_ESCAPED = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "\\": "\\", '"': '"'}
#: A number from here on counts milliseconds, as the older format does; OpenMetrics counts seconds.
_MILLISECONDS_FROM = 10**11
_POINT_OF_MILLISECONDS = -3


@dataclass(frozen=True, slots=True)
class Untimed:
    """A sample whose line names no time, where no `# scraped_at` stands before it either."""

    series: Series


Found = Series | Broken | Told | Untimed


def samples(source: Source) -> Iterator[tuple[Found, int]]:
    """Samples of a scrape, each a series with one point, with how many bytes of the file are read.

    Raises
    ------
    BadFile
        When the file cannot be unpacked or decoded.
    """
    scraped_at: float | str | None = None
    with text_of(source) as (text, raw):
        while line := text.readline(ROW_LIMIT):
            line = line.strip().lstrip("\ufeff")
            if line.startswith("#"):
                if match := _SCRAPED_AT.match(line):
                    scraped_at, wrong = _moment(match["time"])
                    if wrong:
                        yield Broken(line, wrong), raw.tell()
                elif match := _HELP.match(line):
                    yield Told(helps={_plain(match["name"]): match["text"]}), raw.tell()
            elif line:
                yield _sample(line, scraped_at), raw.tell()


def _moment(text: str) -> tuple[float | str | None, str]:
    try:
        return seconds(text), ""
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None, f"{text!r} is neither an ISO moment nor seconds since 1970"
    if moment.tzinfo is None:
        return None, f"{text!r} names no time zone; write it with Z for UTC"
    return moment.astimezone(UTC).timestamp(), ""


def seconds(text: str) -> str:
    """Time of a sample as seconds since 1970, every digit kept.

    Raises
    ------
    ValueError
        When it is no number.
    """
    if abs(float(text)) < _MILLISECONDS_FROM:
        return text
    digits = text.lstrip("+-")
    if not digits.isdigit():
        raise ValueError(f"{text!r} is no time")
    return f"{text[:_POINT_OF_MILLISECONDS]}.{text[_POINT_OF_MILLISECONDS:]}"


def _sample(line: str, scraped_at: float | str | None) -> Found:
    match = SAMPLE.fullmatch(line)
    if not match:
        return Broken(line, "the line is no sample: a name, labels in braces, a number and perhaps a time")
    labels = labels_of(match["labels"] or "", match["name"])
    if labels is None:
        return Broken(line, 'the labels cannot be read; they are written name="value", parted by commas')
    at: float | str | None = scraped_at
    if match["time"]:
        try:
            at = seconds(match["time"])
        except ValueError:
            return Broken(line, f"{match['time']!r} is no time")
    series = Series(labels, [[at, match["value"]]])
    return Untimed(series) if at is None else series


def labels_of(text: str, name: str | None) -> dict[str, str] | None:
    """Labels between braces, with the name of the metric as `__name__`; None when they cannot be read."""
    labels = {"__name__": name} if name else {}
    at = 0
    while at < len(text) and not text[at:].isspace():
        match = _LABEL.match(text, at)
        if not match:
            return None
        key = _plain(match["name"])
        if match["value"] is None:  # a quoted name without value is the metric, as of Prometheus 3
            if not match["name"].startswith('"'):
                return None
            labels["__name__"] = key
        else:
            labels[key] = _plain(match["value"])
        at = match.end()
    return labels


def _plain(text: str) -> str:
    if not text.startswith('"'):
        return text
    return _ESCAPED.sub(lambda match: _ESCAPES.get(match[1], match[0]), text[1:-1])

"""Answers of usage and cost APIs: pages of time buckets, each with its results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from unitcost.readers import json_rows
from unitcost.readers.json_rows import BrokenObject
from unitcost.readers.opening import Source, text_of
from unitcost.readers.reading import Progress
from unitcost.readers.tables import RAW_LIMIT, Broken, Row

#: Bucket and result of an answer.
Result = tuple[Mapping[str, Any], Mapping[str, Any]]
NEXT_PAGE = "The answer is not complete: it names a next page, which is to be asked for too."


def pages(source: Source, progress: Progress | None) -> Iterator[Any]:
    """JSON values of a file that stand one after the other or in a list; a `Broken` where it is damaged."""
    with text_of(source) as (text, raw):
        for value in json_rows.values(text):
            if progress:
                progress(raw.tell(), source.size_bytes)
            yield Broken(value.raw[:RAW_LIMIT], value.reason) if isinstance(value, BrokenObject) else value


def rows_of(
    source: Source, progress: Progress | None, said: list[str], row: Callable[[Result], list[str]]
) -> Iterator[Row]:
    """Rows that `row` makes of each result, in order.

    Parameters
    ----------
    said
        Gets what is to be said about the file as a whole.
    row
        Raises `ValueError` when a result cannot be read.
    """
    open_page = False
    for page in pages(source, progress):
        if isinstance(page, Broken):
            yield page
            continue
        open_page = isinstance(page, dict) and page.get("has_more") is True
        for result in _results(page):
            if isinstance(result, Broken):
                yield result
                continue
            try:
                yield row(result)
            except ValueError as error:
                yield Broken(_raw(result), str(error))
    if open_page:
        said.append(NEXT_PAGE)


def _results(page: Any) -> Iterator[Result | Broken]:
    if not isinstance(page, dict):
        yield Broken(json_rows.written(page)[:RAW_LIMIT], "this is not a page of an answer")
        return
    buckets = page.get("data", [page])
    for bucket in buckets if isinstance(buckets, list) else [buckets]:
        results = bucket.get("results") if isinstance(bucket, dict) else None
        if not isinstance(results, list):
            yield Broken(json_rows.written(bucket)[:RAW_LIMIT], "this is not a bucket with results")
            continue
        for result in results:
            if isinstance(result, dict):
                yield bucket, result
            else:
                yield Broken(json_rows.written(result)[:RAW_LIMIT], "this is not a result of an answer")


def _raw(result: Result) -> str:
    bucket = {name: value for name, value in result[0].items() if name != "results"}
    return json_rows.written({**bucket, "result": result[1]})[:RAW_LIMIT]


def cell(value: Any) -> str:
    """Text of a JSON value; empty where there is none."""
    if isinstance(value, str):
        return str(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return json_rows.written(value)


def member(value: Any, *path: str) -> Any:
    """Value of a member inside of objects; None where there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def count(result: Mapping[str, Any], *path: str) -> int | None:
    """Whole number of a member; None where there is none.

    Raises
    ------
    ValueError
        When it is none, or negative.
    """
    value = member(result, *path)
    if value is None:
        return None
    text = value if isinstance(value, str) else cell(value)
    if not text.isascii() or not text.isdigit():
        raise ValueError(f"{'.'.join(path)} is {text[:60]!r}, not a count")
    return int(text)


def since_epoch(value: Any) -> str:
    """Moment of a count of seconds since 1970, as ISO text; empty where there is none.

    Raises
    ------
    ValueError
        When it is none.
    """
    if value is None:
        return ""
    try:
        return datetime.fromtimestamp(int(str(value)), UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"{str(value)[:60]!r} is not a time in seconds since 1970") from None

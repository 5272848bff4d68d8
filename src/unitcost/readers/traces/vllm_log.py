"""vLLM's own log, with requests and answers written out: `Received request`, `Generated response`.

The prompt is as long as the list of its token ids, the answer as that of its own; answers are logged with
`--enable-log-outputs`, and newer versions list ids at the level DEBUG only (`Request ... details`). Where an answer's ids are
missing it cannot be said how long it was, and the request is refused. A log that was cut (`--max-log-len`) tells the length of
the cut. Times have seconds and no year; the log is taken to be of one year. Equal beginnings of prompts are known from the ids,
in blocks of 16 tokens.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from unitcost.facts.arrivals import RawArrivals
from unitcost.readers.traces.opened import text_of
from unitcost.readers.traces.rows import Rows

#: Tokens of a block of a prompt, as vLLM shares them.
BLOCK_TOKENS = 16
_RECEIVED = re.compile(
    r"INFO (?P<at>\d\d-\d\d \d\d:\d\d:\d\d)\S* .*?Received request (?P<id>[^\s:]+): (?:prompt|params): "
)
_DETAILS = re.compile(r"Request (?P<id>[^\s:]+) details: prompt: ")
_GENERATED = re.compile(r"Generated response (?P<id>[^\s:]+)(?: \(streaming complete\))?(?: details)?: ")
_ANSWER_IDS = re.compile(r"output_token_ids: \[(?P<ids>[\d, ]*)\]")
_IDS = re.compile(r"prompt_token_ids: \[(?P<ids>[\d, ]*)\]")
#: Any line that vLLM writes: the first request may stand far below the start of the server.
_LINE = re.compile(r"(?:DEBUG|INFO|WARNING) \d\d-\d\d \d\d:\d\d:\d\d\S* \[?\S*\.py:\d+\]")
#: A leap year, so that each day is one.
_YEAR = 2000


def sniff(head: str) -> bool:
    """Whether a line of the head is one of vLLM's."""
    return _LINE.search(head) is not None


def read(path: Path) -> RawArrivals:
    """Requests with their answers; the row is the line of the request."""
    answers: dict[str, int] = {}
    prompts: dict[str, str] = {}
    asked: list[tuple[int, str, str, str]] = []
    with text_of(path) as file:
        for number, line in enumerate(file, 1):
            if found := _RECEIVED.search(line):
                asked.append((number, found["at"], found["id"], _last(_IDS, line) or ""))
            elif (found := _DETAILS.search(line)) and (ids := _last(_IDS, line)):
                prompts[found["id"]] = ids
            elif (found := _GENERATED.search(line)) and (answer := _last(_ANSWER_IDS, line)) is not None:
                answers[_name(found["id"])] = _count(answer)
    rows = Rows()
    for number, at, name, listed_ids in asked:
        ids = listed_ids or prompts.get(name, "")
        output = answers.get(_name(name), answers.get(_name(name).rpartition("-")[0]))
        if not ids:
            rows.refuse(number, "its prompt's token ids are not in the log")
        elif output is None:
            rows.refuse(number, "its answer's token ids are not in the log: start vLLM with --enable-log-outputs")
        else:
            moment = datetime.strptime(f"{_YEAR}-{at}", "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).timestamp()
            listed = [int(text) for text in ids.split(",")]
            rows.add(number, moment, (len(listed), output), hashes=list(_chained(listed)), names=(ids, "", ""))
    return rows.columns(path.name, BLOCK_TOKENS)


def _last(pattern: re.Pattern[str], line: str) -> str | None:
    """The last list of ids of a line: a text that is quoted before it may look like one."""
    listed: list[str] = pattern.findall(line)
    return listed[-1] if listed else None


def _name(request: str) -> str:
    return request.rstrip(".")


def _count(ids: str) -> int:
    return len(ids.split(",")) if ids.strip() else 0


def _chained(ids: list[int]) -> Iterator[int]:
    """A number for each block and all before it, the last block too, if it is not full."""
    digest = hashlib.blake2b(digest_size=7)
    for begin in range(0, len(ids), BLOCK_TOKENS):
        digest.update(repr(ids[begin : begin + BLOCK_TOKENS]).encode())
        yield int.from_bytes(digest.digest(), "big")

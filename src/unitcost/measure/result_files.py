"""Files that `unitcost measure model` writes: reading them back, whoever wrote them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unitcost.errors import BadFile
from unitcost.measure.bench_run import KIND, SCHEMA
from unitcost.measure.item_table import Items

_NEEDED = ("machine", "data", "options", "anchors")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFile:
    """A session that was read from a file."""

    path: Path
    found: dict[str, Any]

    @property
    def machine(self) -> str:
        """Name under which the machine is rented; empty where nobody told it."""
        return str(self.found["machine"].get("instance") or "")

    @property
    def options(self) -> list[dict[str, Any]]:
        """Options that were timed."""
        return [option for option in self.found["options"] if not option["failure"] and option.get("timing")]

    @property
    def failures(self) -> list[tuple[str, str]]:
        """Options that failed and why."""
        return [(option["name"], option["failure"]) for option in self.found["options"] if option["failure"]]

    def anchors(self, runtime: str) -> dict[str, float]:
        """Anchor -> median time of a call in a runtime. [s]."""
        return {
            anchor["name"]: float(anchor["timing"]["percentiles"]["p50"]["latency_s"])
            for anchor in self.found["anchors"] if anchor["runtime"] == runtime and anchor.get("timing")
        }  # fmt: skip


def is_result_file(path: Path) -> bool:
    """Whether a file looks like one that the bench wrote."""
    with path.open("rb") as file:
        return KIND.encode() in file.read(400)


def read_result(path: Path) -> ResultFile:
    """A session from a file.

    Raises
    ------
    BadFile
        When it is no such file, of another version, or incomplete.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise BadFile(
            f"is not JSON: {error}", where=str(path), mend="write it with `unitcost measure model --out`"
        ) from error
    if not isinstance(found, dict) or found.get("kind") != KIND or any(part not in found for part in _NEEDED):
        raise BadFile("is no result of the bench", where=str(path), mend="write it with `unitcost measure model --out`")
    if found.get("schema_version") != SCHEMA:
        raise BadFile(
            f"is of version {found.get('schema_version')}, this program reads {SCHEMA}",
            where=str(path),
            mend="measure again",
        )
    return ResultFile(path=path, found=found)


def check_anchors(results: Sequence[ResultFile]) -> None:
    """Refuse a session whose speeds cannot be set beside those of others.

    Raises
    ------
    BadFile
        When it timed options in a runtime in which no anchor ran.
    """
    for result in results:
        for option in result.options:
            if not result.anchors(option["runtime"]):
                raise BadFile(
                    "the anchors were not run in this session, so it cannot be compared with others",
                    where=str(result.path), mend="measure again; the anchors run by themselves",
                )  # fmt: skip


def items_of(results: Sequence[ResultFile]) -> Items | None:
    """Answers per item of all options; None when the files hold none.

    Raises
    ------
    BadFile
        When the sessions used other data.
    """
    kept = [result for result in results if result.found.get("answers")]
    if not kept:
        return None
    first = kept[0].found
    for result in kept[1:]:
        if result.found["data"]["sha256"] != first["data"]["sha256"]:
            raise BadFile(
                f"was measured on other data than {kept[0].path.name}", where=str(result.path),
                mend="measure every option on the same labelled items",
            )  # fmt: skip
    answers = {
        named(result, option): np.array(result.found["answers"][option["answers"]])
        for result in kept for option in result.options if option.get("answers") in result.found["answers"]
    }  # fmt: skip
    if not answers:
        return None
    truth = first.get("truth")
    names = tuple(str(place) for place in range(len(next(iter(answers.values())))))
    return Items(names=names, answers=answers, truth=None if truth is None else np.array(truth))


def named(result: ResultFile, option: dict[str, Any]) -> str:
    """Name of an option; its precision belongs to it, as answers may differ by it."""
    return f"{option['name']} ({option['precision']})"

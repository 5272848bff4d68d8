"""Files that `unitcost measure model` writes: reading them back, whoever wrote them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from unitcost.errors import BadFile
from unitcost.measure.anchors import SHAPES, SUITE
from unitcost.measure.bench_run import KIND, SCHEMA
from unitcost.measure.item_table import Items
from unitcost.measure.result_shape import check_shape

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
            for anchor in self.found["anchors"]
            if anchor["runtime"] == runtime and anchor.get("timing") and not anchor.get("failure")
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
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
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
    _check_rows(found, path)
    return ResultFile(path=path, found=found)


def _check_rows(found: dict[str, Any], path: Path) -> None:
    """Refuse rows that a session would not have written."""
    try:
        check_shape(found)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadFile(
            f"a part is missing or of another form: {error}",
            where=str(path),
            mend="use the file as `unitcost measure model --out` wrote it",
        ) from error


def check_anchors(results: Sequence[ResultFile], *, are_versions_mixed: bool = False) -> None:
    """Refuse a session whose speeds cannot be set beside those of others.

    Parameters
    ----------
    are_versions_mixed
        Whether sessions may have run in other versions of a runtime.

    Raises
    ------
    BadFile
        When an anchor did not run in a runtime in which options were timed, the anchors are not those of this program, or
        sessions ran in other versions of a runtime: its speed is not told apart from that of the machine.
    """
    for result in results:
        for runtime in dict.fromkeys(option["runtime"] for option in result.options):
            _check_suite(result, runtime)
    seen: dict[str, tuple[str, Path]] = {}
    for result in results:
        for option in result.options if not are_versions_mixed else ():
            version, file = seen.setdefault(option["runtime"], (option["version"], result.path))
            if version != option["version"]:
                raise BadFile(
                    f"{option['runtime']} is {option['version']} here and {version} in {file.name}, so machines and versions"
                    " cannot be told apart",
                    where=str(result.path), mend="measure again in one version, or merge them with --mixed-versions",
                )  # fmt: skip


def _check_suite(result: ResultFile, runtime: str) -> None:
    """The anchors of this program, all of them, ran in a runtime."""
    missing = [name for name in SHAPES if name not in result.anchors(runtime)]
    suites = {anchor.get("suite", SUITE) for anchor in result.found["anchors"]} - {SUITE}
    if len(missing) == len(SHAPES):
        what = f"the anchors were not run in {runtime} in this session, so it cannot be compared with others"
    elif missing:
        what = f"{' and '.join(missing)} did not run in {runtime}, so this session cannot be compared with others"
    elif suites:
        what = f"the anchors are of suite {suites.pop()}, this program has suite {SUITE}"
    else:
        return
    raise BadFile(what, where=str(result.path), mend="measure again; the anchors run by themselves")


def told_apart(results: Sequence[ResultFile]) -> list[ResultFile]:
    """Sessions in which options of one name have one answer to each item.

    An option that answered otherwise in a later session is called after its machine too: its quality is its own.
    """
    said: dict[str, object] = {}
    found = []
    for result in results:
        rows = []
        for option in result.found["options"]:
            is_same = option["failure"] or said.setdefault(named(result, option), option.get("answers")) == option.get(
                "answers"
            )
            where = result.machine or result.path.stem
            rows.append(option if is_same else {**option, "name": f"{option['name']} on {where}"})
        found.append(replace(result, found={**result.found, "options": rows}))
    return found


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

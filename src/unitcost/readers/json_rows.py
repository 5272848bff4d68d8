"""JSON lines and JSON arrays as rows: one object at a time, numbers exactly as written."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import TextIO, TypeVar

from unitcost.units import MIB

#: Longest object that is read. [characters]
OBJECT_LIMIT = 16 * MIB
_BLOCK = 1 * MIB
#: Members that are kept whole as JSON text although they are objects: sets of keys that users choose.
_KEPT_WHOLE = frozenset({
    "tags", "allocatedtags", "labels", "resource_tags", "product", "cost_category", "discount", "skupricedetails",
    "allocatedmethoddetails", "contractapplied", "commitmentprogrameligibilitydetails", "additionalinfo",
    "additional_info",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class BrokenObject:
    """Text that is no JSON object, and why."""

    raw: str
    reason: str


#: Gives (name, value); says at the end whether the rest cannot be read.
_Entries = Generator[tuple[str, object], None, bool]


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


_T = TypeVar("_T")
#: Puts the members of an object, under a prefix, into a flat one.
_Way = Callable[[dict[str, object], str, dict[str, _T]], None]
_DECODER = json.JSONDecoder(parse_float=_Number, parse_int=_Number, parse_constant=_Number)
_quoted = json.encoder.encode_basestring


def objects(text: TextIO, *, lines: bool) -> Iterator[dict[str, str] | BrokenObject]:
    """Objects of a text, flattened: a nested object becomes members with dotted names, a list stays JSON text.

    Parameters
    ----------
    text
        Where to read.
    lines
        One object a line; otherwise one array of objects.
    """
    return _of_lines(text, _flattened) if lines else _of_array(text, _flattened)


def members(text: TextIO, *, lines: bool) -> tuple[str, ...]:
    """Names of the members of all objects of a text, in order of appearance; see `objects`."""
    return members_of(_of_lines(text, _named) if lines else _of_array(text, _named))


def members_of(found: Iterable[dict[str, _T] | BrokenObject]) -> tuple[str, ...]:
    """Names of the members of objects, in order of appearance."""
    names: dict[str, None] = {}
    for item in found:
        if isinstance(item, dict):
            names.update(dict.fromkeys(item))
    return tuple(names)


def values(text: TextIO) -> Iterator[object]:
    """JSON values that stand one after the other, those of an array singly; numbers are texts, as they are written.

    The last is a `BrokenObject` when the text is cut off or is no JSON from there on.
    """
    window = _Window(text)
    depth = 0
    while sign := window.next_sign():
        if sign in "[]":
            depth += 1 if sign == "[" else -1
            window.at += 1
            continue
        found, end = _decode(window)
        if end < 0:
            yield BrokenObject(window.held[window.at :], str(found))
            return
        yield found
        window.at = end
    if depth > 0:
        yield BrokenObject("", "the JSON array is cut off before its end")


def entries(text: TextIO, lists: Collection[str]) -> Iterator[tuple[str, object]]:
    """Members of the objects of a text, (name, value); a list that is named in `lists` gives its values singly.

    The objects stand one after the other or in an array, like the pages of an answer. None of them is held in memory
    as a whole; the end of each gives ("", None). The last value is a `BrokenObject` when the text is cut off or is no
    JSON from there on.
    """
    window = _Window(text)
    depth = 0
    while sign := window.next_sign():
        window.at += 1
        if sign == "{":
            broken = yield from _entries_of_object(window, lists)
            if broken:
                return
        elif sign in "[]":
            depth += 1 if sign == "[" else -1
        else:
            yield "", BrokenObject(sign + window.held[window.at :], "this is JSON, but not an object")
            return
    if depth > 0:
        yield "", BrokenObject("", "the JSON array is cut off before its end")


def _entries_of_object(window: _Window, lists: Collection[str]) -> _Entries:
    """Returns whether the rest cannot be read."""
    while (sign := window.next_sign()) and sign != "}":
        key, end = _decode(window) if sign == '"' else ("a name is missing", -1)
        if end >= 0:
            window.at = end
            end = 0 if window.next_sign() == ":" else -1
        if end < 0:
            yield "", BrokenObject(window.held[window.at :], f"the rest of the file is not JSON ({key})")
            return True
        window.at += 1
        name = str(key)
        if window.next_sign() == "[" and name in lists:
            window.at += 1
            broken = yield from _entries_of_list(window, name)
        else:
            broken = yield from _entry(window, name)
        if broken:
            return True
    window.at += 1
    yield "", None if sign else BrokenObject("", "the JSON object is cut off before its end")
    return not sign


def _entries_of_list(window: _Window, name: str) -> _Entries:
    while (sign := window.next_sign()) and sign != "]":
        broken = yield from _entry(window, name)
        if broken:
            return True
    window.at += 1
    if not sign:
        yield "", BrokenObject("", f"the list of {name} is cut off before its end")
    return not sign


def _entry(window: _Window, name: str) -> _Entries:
    found, end = _decode(window)
    if end < 0:
        yield "", BrokenObject(window.held[window.at :], str(found))
        return True
    yield name, found
    window.at = end
    return False


def _of_lines(text: TextIO, way: _Way[_T]) -> Iterator[dict[str, _T] | BrokenObject]:
    while line := text.readline(OBJECT_LIMIT):
        if len(line) == OBJECT_LIMIT and not line.endswith("\n"):
            while (rest := text.readline(OBJECT_LIMIT)) and not rest.endswith("\n"):
                pass
            yield BrokenObject(line, f"the line is longer than {OBJECT_LIMIT // MIB} MiB")
            continue
        line = line.strip().lstrip("\ufeff")
        if line:
            yield _parse(line, way)


def _parse(line: str, way: _Way[_T]) -> dict[str, _T] | BrokenObject:
    try:
        found = _DECODER.decode(line)
    except (ValueError, RecursionError) as error:
        return BrokenObject(line, f"the line is not JSON ({error})")
    return _taken(found, line, way)


def _taken(found: object, raw: str, way: _Way[_T]) -> dict[str, _T] | BrokenObject:
    if not isinstance(found, dict):
        return BrokenObject(raw, "this is JSON, but not an object")
    flat: dict[str, _T] = {}
    try:
        way(found, "", flat)
    except RecursionError:
        return BrokenObject(raw, "the objects are nested too deeply")
    return flat


def _flattened(found: dict[str, object], prefix: str, flat: dict[str, str]) -> None:
    for key, value in found.items():
        if isinstance(value, str):
            flat[prefix + key] = value
        elif value is None:
            flat[prefix + key] = ""
        elif isinstance(value, dict) and key.casefold() not in _KEPT_WHOLE:
            _flattened(value, f"{prefix}{key}.", flat)
        else:
            flat[prefix + key] = written(value)


def _named(found: dict[str, object], prefix: str, flat: dict[str, None]) -> None:
    """The same for those who need the names alone."""
    for key, value in found.items():
        if isinstance(value, dict) and key.casefold() not in _KEPT_WHOLE:
            _named(value, f"{prefix}{key}.", flat)
        else:
            flat[prefix + key] = None


def written(value: object) -> str:
    """JSON text of a value, numbers as they were written."""
    if isinstance(value, str):
        return value if isinstance(value, _Number) else _quoted(value)
    if isinstance(value, dict):
        return "{" + ", ".join([f"{_quoted(k)}: {written(v)}" for k, v in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ", ".join([written(v) for v in value]) + "]"
    return json.dumps(value)


class _Window:
    """The part of a text that is at work."""

    def __init__(self, text: TextIO) -> None:
        self.text, self.held, self.at, self.ended = text, "", 0, False

    def more(self) -> bool:
        """Read on, a larger block each time one object needs it; False at the end of the text."""
        block = self.text.read(max(_BLOCK, len(self.held) - self.at))
        self.held, self.at = self.held[self.at :] + block, 0
        self.ended = not block
        return bool(block)

    def next_sign(self) -> str:
        """Next character that is no blank, and no comma between objects; empty at the end."""
        while True:
            while self.at < len(self.held):
                if self.held[self.at] not in " \t\r\n,\ufeff":
                    return self.held[self.at]
                self.at += 1
            if not self.more():
                return ""


def _of_array(text: TextIO, way: _Way[_T]) -> Iterator[dict[str, _T] | BrokenObject]:
    window = _Window(text)
    if window.next_sign() == "[":
        window.at += 1
    while (sign := window.next_sign()) and sign != "]":
        found, end = _decode(window)
        if end < 0:
            yield BrokenObject(window.held[window.at :], str(found))
            return  # nothing tells where the next object starts
        yield _taken(found, window.held[window.at : end], way)
        window.at = end
    if not sign:
        yield BrokenObject("", "the JSON array is cut off before its end")


def _decode(window: _Window) -> tuple[object, int]:
    """Value at the window and where it ends; a reason and -1 when there is none."""
    while True:
        try:
            found, end = _DECODER.raw_decode(window.held, window.at)
        except RecursionError:
            return "the objects are nested too deeply", -1
        except ValueError as error:
            reason = f"the rest of the file is not JSON ({error})"
        else:
            if end < len(window.held) or window.ended:
                return found, end
            reason = "the rest of the file is not JSON"
        if len(window.held) - window.at > OBJECT_LIMIT:
            return f"the object is longer than {OBJECT_LIMIT // MIB} MiB; it and what follows is not read", -1
        if window.ended or not window.more():
            window.ended = True
            if not reason.endswith("JSON"):
                return reason, -1

"""Look at the files of a folder and write settings that load them."""

from __future__ import annotations

import glob
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from unitcost import config, readers
from unitcost.errors import BadSetting, UnitcostError
from unitcost.facts.paths import kind_of, printable
from unitcost.facts.source import ReadOptions
from unitcost.jobs.finding import cannot_open, check_file, expand, walk
from unitcost.jobs.workspace import check_folder

_NAME = "unitcost.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class InitOutcome:
    """The settings that were written, the files they load, and files that nothing reads.

    `found` holds each path or pattern of the settings with the readers of its files, `unread` each other file with the
    reason.
    """

    path: Path
    found: tuple[tuple[str, str], ...]
    unread: tuple[tuple[str, str], ...]


def init(folder: Path, *, force: bool = False) -> InitOutcome:
    """Write `unitcost.toml` for the files that are in a folder.

    Raises
    ------
    BadSetting
        When there is no such folder, or when there are settings already and `force` is not said.
    """
    check_folder(folder)
    path = folder / _NAME
    if path.exists() and not path.is_file():
        what = f"it is {kind_of(path.stat().st_mode)}, and settings are a file"
        raise BadSetting(what, where=str(path), mend="move it away")
    if os.path.lexists(path) and not force:
        raise BadSetting(
            "there are settings already", where=str(path), mend="edit them, or say --force to write them anew"
        )
    known: dict[Path, str] = {}
    unread = []
    for file in walk(folder):
        name = printable(file.relative_to(folder).as_posix())
        try:
            check_file(file, name)
            known[file] = readers.find(file, ReadOptions())[0][0]
        except UnitcostError as error:
            unread.append((name, f"{error.what}; {error.mend}" if error.mend else error.what))
        except OSError as error:
            unread.append((name, cannot_open(error, name).what))
    listed = tuple(_entries(folder, known))
    path.write_text(config.template(listed), encoding="utf-8")
    return InitOutcome(path=path, found=listed, unread=tuple(unread))


def _entries(folder: Path, known: Mapping[Path, str]) -> Iterator[tuple[str, str]]:
    """Paths and patterns that together match each known file once and no other, with the readers of their files.

    A pattern stands for the files of a folder that end alike, where it matches just these; files at the top stand
    for themselves, as the settings and much else lie beside them.
    """
    groups: dict[tuple[Path, str], dict[str, Path]] = defaultdict(dict)
    seen: set[str] = set()
    for file in sorted(known):
        real = os.path.realpath(file)
        if real not in seen:
            seen.add(real)
            groups[file.parent, _ending(file)][real] = file
    for (parent, ending), files in sorted(groups.items()):
        pattern = (Path(glob.escape(parent.relative_to(folder).as_posix())) / f"*{glob.escape(ending)}").as_posix()
        if parent != folder and {os.path.realpath(file) for file in expand(pattern, folder)} == set(files):
            yield pattern, ", ".join(sorted({known[file] for file in files.values()}))
        else:
            yield from ((file.relative_to(folder).as_posix(), known[file]) for file in files.values())


def _ending(file: Path) -> str:
    return "".join(file.suffixes[-2:]) if file.suffix == ".gz" else file.suffix

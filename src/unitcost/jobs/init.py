"""Look at the files of a folder and write settings that load them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from unitcost import config, readers
from unitcost.errors import BadSetting, UnitcostError
from unitcost.facts.source import ReadOptions
from unitcost.jobs.ingest import loadable

_NAME = "unitcost.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class InitOutcome:
    """The settings that were written, the files they load, and files that nothing reads."""

    path: Path
    found: tuple[tuple[str, str], ...]
    unread: tuple[tuple[str, str], ...]


def init(folder: Path, *, force: bool = False) -> InitOutcome:
    """Write `unitcost.toml` for the files that are in a folder.

    Raises
    ------
    BadSetting
        When there is one already and `force` is not said.
    """
    path = folder / _NAME
    if path.exists() and not force:
        raise BadSetting(
            "there are settings already", where=str(path), mend="edit them, or say --force to write them anew"
        )
    if not folder.is_dir():
        raise BadSetting(f"there is no folder `{folder}`", mend="give an existing folder with --folder")
    patterns: dict[tuple[str, str], int] = defaultdict(int)
    unread = []
    for file in sorted(f for f in folder.rglob("*") if f.is_file() and loadable(f.relative_to(folder))):
        name = file.relative_to(folder)
        try:
            found = readers.find(file, ReadOptions())
        except UnitcostError as error:
            unread.append((name.as_posix(), error.what))
            continue
        if found:
            patterns[_pattern(name), str(found[0][0])] += 1
    listed = tuple((pattern, reader) for pattern, reader in sorted(patterns))
    path.write_text(config.template(listed), encoding="utf-8")
    return InitOutcome(path=path, found=listed, unread=tuple(unread))


def _pattern(name: Path) -> str:
    """Pattern of the files that lie beside a file and end like it; a file at the top stands for itself."""
    if name.parent == Path():
        return name.as_posix()
    suffix = "".join(name.suffixes[-2:]) if name.suffix == ".gz" else name.suffix
    return (name.parent / f"*{suffix}").as_posix()

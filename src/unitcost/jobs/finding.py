"""Finding files: what paths, folders and patterns mean, and what is no file to load."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from unitcost.errors import BadFile, BadSetting, UnitcostError, near_names
from unitcost.facts.paths import is_text, kind_of, printable
from unitcost.facts.rules import LoadEntry
from unitcost.facts.source import ReadOptions
from unitcost.jobs.workspace import Workspace
from unitcost.readers.live import Address, address_of

_SKIPPED_SUFFIXES = {".toml", ".md", ".duckdb", ".wal", ".html", ".png", ".py", ".sql", ".pdf", ".xlsx"}
#: Names of a folder that are looked through for one that was meant.
_MOST_NAMES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A file to load, the source that it is a part of, and what is said about it.

    `address` is a live source that has to be asked before there is a file.
    """

    file: Path
    source: str
    options: ReadOptions
    address: Address | None = None


def files_to_load(workspace: Workspace, paths: Sequence[str], said: ReadOptions) -> list[Found]:
    """Files in sorted order, each once: those that are named, or those of the `[[load]]` entries.

    What is named and is no file to load is among them; see `check_file`.

    Raises
    ------
    UnitcostError
        When nothing is named and there are no entries.
    BadSetting
        When a path is empty.
    """
    entries = workspace.settings.loads
    if not paths and not entries:
        raise UnitcostError(
            "there is nothing to load", where=str(workspace.folder),
            mend="name files (`unitcost load bills/`), or run `unitcost init` to write [[load]] entries",
        )  # fmt: skip
    if not all(path.strip() for path in paths):
        raise BadSetting("a path to load is empty", mend="name a file or a folder; `.` is this folder")
    addresses = {
        path: address for path in (*paths, *(entry.path for entry in entries)) if (address := address_of(path))
    }
    by_file = {_real(file): entry for entry in reversed(entries) for file in _files(entry.path, workspace.folder)}
    if paths:
        named: Iterable[tuple[Path, str]] = ((file, path) for path in paths for file in _files(path))
    else:
        named = ((file, entry.path) for entry in entries for file in _files(entry.path, workspace.folder))
    found: dict[str, Found] = {}
    for file, source in named:
        entry = by_file.get(_real(file))
        options = merge(stated(workspace, entry), said)
        address = addresses.get(source)
        shown = address.shown if address else source
        found.setdefault(
            _real(file), Found(file=file, source=entry.path if entry else shown, options=options, address=address)
        )
    return list(found.values())


def _files(path: str, folder: Path = Path()) -> list[Path]:
    """Files that a path means; the address of a live source stands for itself."""
    return [Path(path)] if address_of(path) else expand(path, folder)


def _real(path: Path) -> str:
    return os.path.realpath(path) if "\0" not in str(path) else str(path)


def stated(workspace: Workspace, entry: LoadEntry | None) -> ReadOptions | None:
    """Options of an entry; the rate card that it names lies beside the settings."""
    if entry is None or not entry.options.rates:
        return entry.options if entry else None
    return replace(entry.options, rates=str(workspace.folder / entry.options.rates))


def merge(entry: ReadOptions | None, said: ReadOptions) -> ReadOptions:
    """Options of a `[[load]]` entry, overruled by those of the call that say something."""
    if entry is None:
        return said
    overrules = {f.name: getattr(said, f.name) for f in fields(ReadOptions) if getattr(said, f.name)}
    return replace(entry, **overrules)


def expand(path: str, folder: Path = Path()) -> list[Path]:
    """Files that a path, folder or pattern means, sorted; what means none stands for itself.

    As in a shell `*` matches no hidden file; `**` stands for any folders.
    """
    whole = folder / path
    if os.path.isdir(whole):
        return list(walk(whole))
    if "\0" in path or os.path.lexists(whole) or not glob.has_magic(path):
        return [whole]
    matched = sorted(folder / name for name in glob.glob(path, root_dir=folder, recursive=True))
    return [file for file in matched if not file.is_dir()] or [whole]


def walk(folder: Path) -> Iterator[Path]:
    """Files under a folder that could be data, sorted; a folder that cannot be listed stands for itself.

    Links to folders are followed, each folder once.
    """
    closed: list[Path] = []
    seen: set[tuple[int, int]] = set()
    found: list[Path] = []
    listing = os.walk(folder, followlinks=True, onerror=lambda error: closed.append(Path(error.filename)))
    for top, folders, names in listing:
        here = os.stat(top)
        if (here.st_dev, here.st_ino) in seen:
            folders.clear()
            continue
        seen.add((here.st_dev, here.st_ino))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(top, name) for name in names if loadable(name)]
    yield from sorted([*found, *closed])


def loadable(name: str) -> bool:
    """Whether a file found in a folder could be data: not hidden, no settings, no page, no program."""
    return not name.startswith(".") and Path(name).suffix.lower() not in _SKIPPED_SUFFIXES


def check_file(file: Path, name: str) -> None:
    """Refuse what is no file that can be loaded.

    Raises
    ------
    BadFile
        Says what it is: missing, a link to nothing, a folder, a pipe, a device, or named in no known encoding.
    """
    if not is_text(str(file)):
        raise BadFile("the file's name is not valid UTF-8", where=name, mend="rename it")
    try:
        mode = file.stat().st_mode
    except FileNotFoundError:
        raise _missing(file, name) from None
    except (OSError, ValueError) as error:
        raise cannot_open(error, name) from error
    if stat.S_ISDIR(mode):
        raise _unlistable(file, name)
    if not stat.S_ISREG(mode):
        raise BadFile(
            f"it is {kind_of(mode)}, not a file", where=name, mend="write what it gives into a file, and load that"
        )


def cannot_open(error: OSError | ValueError, name: str) -> BadFile:
    """What the system says about a file that it does not open."""
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return BadFile(f"the file cannot be read ({why})", where=name, mend="check the path and its rights")


def _missing(file: Path, name: str) -> BadFile:
    if file.is_symlink():
        target = printable(os.readlink(file))
        return BadFile(
            f"it is a link to `{target}`, which is not there", where=name, mend="mend the link, or remove it"
        )
    if glob.has_magic(name):
        folders = any(glob.iglob(str(file), recursive=True))
        what = "only folders match the pattern" if folders else "no file matches the pattern"
        return BadFile(what, where=name, mend=f"write {name}/*" if folders else "check the path")
    try:
        names = [entry for entry, _ in zip(os.listdir(file.parent), range(_MOST_NAMES), strict=False)]
    except OSError:
        return BadFile("there is no such file, nor its folder", where=name, mend="check the path")
    near = near_names(file.name, filter(is_text, names))
    hint = f"; did you mean {' or '.join(f'`{one}`' for one in near)}?" if near else ""
    return BadFile(f"there is no such file{hint}", where=name, mend="check the path")


def _unlistable(folder: Path, name: str) -> BadFile:
    try:
        os.listdir(folder)
    except OSError as error:
        return BadFile(
            f"the folder cannot be listed ({error.strerror})", where=name, mend="check its rights, or load without it"
        )
    return BadFile("it is a folder, not a file", where=name, mend="name the files in it")

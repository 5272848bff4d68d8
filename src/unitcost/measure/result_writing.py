"""Writing a session into a file that is always whole, and keeping what is known while it runs."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from threading import get_ident
from typing import Any

from unitcost.errors import BadFile


def write_result(found: Mapping[str, Any], path: Path) -> None:
    """Write a session; readers see the old file or the new one, also when two processes write."""
    part = path.with_name(f".{path.name}.{os.getpid()}.{get_ident()}")
    part.write_text(json.dumps(found), encoding="utf-8")
    os.replace(part, path)


def unfinished(path: Path) -> Path:
    """Where what was measured so far stands while a session runs, and after it was killed.

    Raises
    ------
    BadFile
        When the file that will be written is a device or a pipe: it would be replaced by a file.
    """
    if path.exists() and not path.is_file():
        raise BadFile("is no regular file, it would be replaced", where=str(path), mend="write into a file")
    return path.with_name(f"{path.name}.part")

"""The `config.json` that comes with a model's weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from unitcost.errors import BadFile

_MEND = "download the model's config.json again"


def config_file(model: str) -> Path:
    """Where the file of a folder is; for the name of a model it is not there."""
    return Path(model) / "config.json"


def read_config(model: str) -> dict[str, Any] | None:
    """What the file of a folder says; None: `model` is no folder with one.

    Raises
    ------
    BadFile
        When it is no JSON object.
    """
    path = config_file(model)
    if not path.is_file():
        return None
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadFile("it is not JSON", where=str(path), mend=_MEND) from error
    if not isinstance(config, dict):
        raise BadFile("it is no JSON object", where=str(path), mend=_MEND)
    return config

"""What `init` writes can be read again, its examples too."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from unitcost import config
from unitcost.config.schema import File


def read(folder: Path, text: str):
    (folder / "unitcost.toml").write_text(text, encoding="utf-8")
    return config.read(folder)


def test_the_template_is_read_back(tmp_path: Path) -> None:
    settings = read(tmp_path, config.template([("bills/*.csv", "FOCUS 1.0"), ('my "own"\\*.jsonl', "GCP\nexport")]))
    assert [load.path for load in settings.loads] == ["bills/*.csv", 'my "own"\\*.jsonl']
    assert read(tmp_path, config.template([])).loads == ()


def test_its_examples_are_settings_too(tmp_path: Path) -> None:
    text = config.template([])
    lines = [line.removeprefix("# ") if " = " in line or line.startswith("# [") else line for line in text.splitlines()]
    settings = read(tmp_path, "\n".join(lines))
    assert settings.loads
    assert settings.fx
    assert settings.drivers
    assert settings.splits
    assert settings.charges
    assert settings.invoices
    assert settings.qualities
    assert settings.owners["team"].rules


@given(st.lists(st.tuples(st.text(min_size=1, max_size=12), st.text(max_size=12)), max_size=3))
def test_any_path_is_quoted(files: list[tuple[str, str]]) -> None:
    import tomllib

    data = tomllib.loads(config.template(files))
    assert [entry["path"] for entry in data.get("load", [])] == [path for path, _ in files]
    File.model_validate(data)

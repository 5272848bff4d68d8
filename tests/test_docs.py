"""The documentation is complete, its links lead somewhere, and its examples run."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from importlib import util
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import numpy as np
import pytest
from click.testing import CliRunner
from pydantic import BaseModel

from tests.measure.small_models import labelled, linear
from unitcost import cli as front
from unitcost import samples

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def reference() -> ModuleType:
    """The script that makes the reference pages."""
    spec = util.spec_from_file_location("make_reference", ROOT / "docs/make_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules["make_reference"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["commands.md", "readers.md", "metrics.md", "drivers.md", "prices.md"])
def test_the_reference_is_that_of_the_program(page: str) -> None:
    made = reference()
    written = (made.FOLDER / page).read_text(encoding="utf-8")
    assert written == made.PAGES[page](), "run `python docs/make_reference.py`"


def test_each_command_has_its_section() -> None:
    text = (ROOT / "docs/reference/commands.md").read_text(encoding="utf-8")
    for name in front.COMMANDS:
        assert f"## `unitcost {name}`" in text


def test_each_reader_has_its_section() -> None:
    from unitcost.readers import READERS

    text = (ROOT / "docs/reference/readers.md").read_text(encoding="utf-8")
    for name, reader in READERS.items():
        assert f"## `{name}`" in text
        assert reader.CONVENTIONS


def test_each_shipped_driver_rule_is_listed() -> None:
    from unitcost.attribution.drivers import SHIPPED

    text = (ROOT / "docs/reference/drivers.md").read_text(encoding="utf-8")
    for rule in SHIPPED:
        assert f"| {rule.name} |" in text


def keys_of(model: type[BaseModel]) -> Iterator[str]:
    """Keys of a settings model and of the models inside it, as written in the file."""
    for name, field in model.model_fields.items():
        yield field.alias or name
        for inner in models_in(field.annotation):
            yield from keys_of(inner)


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """Models that a type mentions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from models_in(part)


def settings_model() -> type[BaseModel]:
    """The model of the whole settings file: the one that no other mentions and that has `ledger`."""
    from unitcost import config

    found: set[type[BaseModel]] = set()
    pending = list(BaseModel.__subclasses__())
    while pending:
        model = pending.pop()
        pending += model.__subclasses__()
        if model.__module__.startswith(config.__name__) and "ledger" in model.model_fields:
            found.add(model)
    [whole] = found
    return whole


def test_each_setting_is_described() -> None:
    text = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    described = set(re.findall(r"[A-Za-z_]+", " ".join(re.findall(r"`([^`\n]+)`", text))))
    missing = sorted(set(keys_of(settings_model())) - described)
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_each_page_can_be_reached_from_the_index() -> None:
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    for page in ROOT.glob("docs/*/*.md"):
        assert f"({page.relative_to(ROOT / 'docs').as_posix()})" in index


def test_the_readme_is_short_and_its_commands_are_those_of_ci() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "pip install . && unitcost demo" in text
    assert 'pip install -e ".[dev]" && pytest -q' in text
    assert len(text.splitlines()) < 40
    assert "README.md" in (ROOT / ".ci/run").read_text(encoding="utf-8")


def examples() -> list[str]:
    """Command lines that start with `$ unitcost ` in fenced blocks, in order, each once."""
    found = [line for page in PAGES for line in re.findall(r"^\$ (unitcost .+)$", page.read_text("utf-8"), re.M)]
    return list(dict.fromkeys(found))


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small sample workspace, loaded."""
    folder = tmp_path_factory.mktemp("docs")
    samples.write(folder, rows=8_000)
    result = CliRunner().invoke(front.cli, ["load", "--folder", str(folder)])
    assert result.exit_code == 0, result.output
    return folder


@pytest.mark.parametrize("line", examples())
def test_an_example_runs(line: str, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workspace)
    result = CliRunner().invoke(front.cli, shlex.split(line)[1:])
    assert result.exit_code == 0, result.output
    assert result.stdout


def test_the_model_to_try_the_bench_on_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("skl2onnx", reason="the library that the page makes its model with is not installed")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs/how-to/measure-a-model.md").read_text(encoding="utf-8")
    [block] = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    exec(compile(block, "measure-a-model.md", "exec"), {})
    assert (tmp_path / "model.onnx").stat().st_size > 0
    with np.load("eval.npz") as held:
        assert len(held["X"]) == len(held["y"]) == 898


def test_the_example_in_python_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs/how-to/use-from-python.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
        exec(compile(block, "use-from-python.md", "exec"), names)
    assert "small 0.00036 0.000057" in capsys.readouterr().out
    model, (data, _) = linear(tmp_path / "mine.onnx", np.eye(4)), labelled(tmp_path / "data.npz")
    assert names["profile"](model, data).startswith("mine/ort/")

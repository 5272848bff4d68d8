"""Every number of the sample's report: a stable id, and a value that folds again from its leaf rows."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from unitcost import money
from unitcost.attribution.fx import rate_days
from unitcost.cli import cli
from unitcost.figure import Figure, recompute, walk_once
from unitcost.jobs.demo import demo
from unitcost.jobs.explain import RowReader
from unitcost.jobs.review import review
from unitcost.jobs.selecting import select
from unitcost.jobs.workspace import Workspace
from unitcost.report.model import Report

#: Leaves whose rows are held at the same time.
AT_ONCE = 200


def batched(figures: Iterable[Figure], size: int) -> Iterator[list[Figure]]:
    left = iter(figures)
    while some := list(islice(left, size)):
        yield some


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, Report]:
    workspace, _, report = demo(tmp_path_factory.mktemp("sample") / "demo")
    return workspace, report


def test_every_figure_folds_again_from_its_rows(sample: tuple[Workspace, Report]) -> None:
    workspace, report = sample
    figures = report.figures()
    assert len(figures) > 1000
    with workspace.open_ledger() as ledger:
        reader = RowReader(ledger, rate_days(workspace.settings.fx), workspace)
        sums: dict[str, Decimal] = {}
        for some in batched((figure for figure in figures.values() if figure.rows is not None), AT_ONCE):
            for figure, rows in zip(some, reader.read_all(some, None), strict=True):
                assert figure.rows is not None
                assert len(rows) == figure.rows.row_count, figure.id
                sums[figure.id] = money.add(row.amount for row in rows)
    # An id names one figure (below), so each is folded once and known by it.
    told: dict[str, Decimal | None] = {}
    for figure in figures.values():
        assert folded(figure, sums, told) == figure.value, figure.id


def folded(figure: Figure, sums: dict[str, Decimal], told: dict[str, Decimal | None]) -> Decimal | None:
    """Value folded again from the leaves, each figure once: what it is made of is folded before it."""
    if figure.id not in told:
        if figure.rows is not None:
            told[figure.id] = sums[figure.id]
        else:
            given = [replace(inner, value=folded(inner, sums, told), op="given", inputs=()) for inner in figure.inputs]
            told[figure.id] = recompute(replace(figure, inputs=tuple(given)), no_rows)
    return told[figure.id]


def no_rows(rows: object) -> Decimal:
    raise AssertionError(f"a figure folds from its inputs, not from {rows}")


@pytest.mark.parametrize(
    ("said", "by"),
    [
        ({}, ()),
        ({"cost": "billed"}, ("provider", "team")),
        ({"place": "charge"}, ("day", "driver")),
        ({"cost": "list"}, ()),
    ],
)
def test_an_id_names_one_figure(sample: tuple[Workspace, Report], said: dict[str, str], by: tuple[str, ...]) -> None:
    workspace, _ = sample
    found: dict[str, Figure] = {}
    for figure in walk_once(review(workspace, select(workspace.settings, **said), by=by).shown()):
        assert found.setdefault(figure.id, figure) == figure, figure.id
    assert len(found) > 1000


@pytest.mark.parametrize("limit", [3, None])
def test_leaves_that_are_read_together_have_the_same_rows(sample: tuple[Workspace, Report], limit: int | None) -> None:
    workspace, report = sample
    leaves = [figure for figure in report.figures().values() if figure.rows is not None]
    chosen = random.Random(11).sample(leaves, 25)
    with workspace.open_ledger() as ledger:
        reader = RowReader(ledger, rate_days(workspace.settings.fx), workspace)
        together = reader.read_all(chosen, limit)
        assert together == [reader.read(leaf, limit) for leaf in chosen]


def test_the_report_is_the_same_each_time(sample: tuple[Workspace, Report]) -> None:
    workspace, report = sample
    again = review(workspace, select(workspace.settings))
    assert {i: f.value for i, f in again.figures().items()} == {i: f.value for i, f in report.figures().items()}


def test_figures_of_each_section_unfold(sample: tuple[Workspace, Report]) -> None:
    workspace, report = sample
    chosen = random.Random(7)
    for section in report.sections:
        ids = sorted({figure.id for table in section.tables for figure in table.figures()})
        for identity in chosen.sample(ids, min(2, len(ids))):
            result = CliRunner().invoke(cli, ["explain", identity, "--json", "-C", str(workspace.folder)])
            assert result.exit_code == 0, (identity, result.output)
            data: dict[str, Any] = json.loads(result.stdout)
            assert data["figure"] == identity


def test_an_unknown_figure_names_near_ones(sample: tuple[Workspace, Report]) -> None:
    workspace, report = sample
    identity = report.tiles[0].figure.id
    result = CliRunner().invoke(cli, ["explain", identity.replace("spend", "spent"), "-C", str(workspace.folder)])
    assert result.exit_code == 2
    assert identity in result.stderr


def test_the_sample_closes(sample: tuple[Workspace, Report]) -> None:
    _, report = sample
    assert report.closes
    for section in report.sections:
        for table in section.tables:
            for place, column in enumerate(table.columns):
                if column.kind == "money" and table.total and isinstance(table.total[place], Figure):
                    cells = [row[place] for row in table.rows]
                    values = [c.value for c in cells if isinstance(c, Figure) and c.value is not None]
                    end = table.total[place]
                    assert isinstance(end, Figure)
                    if section.key != "closing":
                        assert money.add(values) == end.value, (section.key, column.name)


def test_truth_of_the_sample(sample: tuple[Workspace, Report]) -> None:
    workspace, report = sample
    truth = json.loads((Path(workspace.folder) / "truth.json").read_text())
    assert truth
    assert report.answers["firm"]["USD"] in (True, False)

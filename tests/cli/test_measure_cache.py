"""`unitcost measure cache` on small logs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from unitcost.cli import cli


def run(*arguments: str, code: int = 0):
    done = CliRunner().invoke(cli, ["measure", "cache", *arguments])
    assert done.exit_code == code, done.output
    return done


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = tmp_path / "log.csv"
    path.write_text(
        "t,request,model,tenant,said,right\n0,Where is my card?,v1,a,card,card\n10,where is  my card,v1,a,card,card\n"
        "20,Where is my card?,v1,b,card,card\n30,where is my card,v2,a,card,card\n40,where is my cars?,v1,a,cars,cars\n"
        "90,Where is my card?,v1,a,card,card\n"
    )
    return str(path)


def hits(log: str, *asked: str) -> list[float]:
    return [row["hit_share"] for row in json.loads(run(log, "--sizes", "1,all", *asked, "--json").stdout)["exact"]]


def test_what_counts_as_the_same_is_declared(log: str):
    assert hits(log, "--normalise", "none") == pytest.approx([0, 1 / 6])
    assert hits(log, "--normalise", "words") == pytest.approx([1 / 6, 2 / 6])


def test_an_age_makes_old_answers_new(log: str):
    assert hits(log, "--normalise", "words", "--ages", "60s") == pytest.approx([1 / 6, 1 / 6])


def test_similar_requests_say_how_often_they_are_wrong(log: str):
    answer = json.loads(
        run(log, "--normalise", "words", "--answer", "said", "--truth", "right", "--near", "0.6,0.99", "--json").stdout
    )
    near = {found["threshold"]: found for found in answer["near"]}
    assert (near[0.6]["hits"], near[0.6]["changed"], near[0.6]["wrong"]) == (3, 1, 1)
    assert near[0.6]["changed_interval"][0] < 1 / 3 < near[0.6]["changed_interval"][1]
    assert (near[0.99]["hits"], near[0.99]["changed"]) == (2, 0)
    assert answer["key"] == ["model", "tenant", "request"]


def test_embeddings_take_the_place_of_the_text(log: str, tmp_path: Path):
    np.savez(tmp_path / "v.npz", np.array([[1.0, 0], [1, 0.01], [1, 0], [1, 0], [0, 1], [1, 0]]))
    answer = json.loads(
        run(log, "--answer", "said", "--near", "0.95", "--embeddings", str(tmp_path / "v.npz"), "--json").stdout
    )
    assert (answer["near"][0]["hits"], answer["near"][0]["changed"]) == (2, 0)
    np.savez(tmp_path / "short.npz", np.ones((2, 2)))
    done = run(log, "--answer", "said", "--near", "0.95", "--embeddings", str(tmp_path / "short.npz"), code=1)
    assert "for 6 requests" in done.output


def test_savings_are_net(log: str):
    answer = json.loads(
        run(log, "--normalise", "words", "--usd-per-1k", "3", "--lookup-usd-per-1k", "0.4", "--json").stdout
    )
    assert float(answer["net_saving_usd_per_1k"]["all"]) == pytest.approx(3 * 2 / 6 - 0.4)


def test_prefixes_repeat_more_than_prompts(tmp_path: Path):
    path = tmp_path / "blocks.jsonl"
    path.write_text("\n".join(json.dumps({"timestamp": n, "hash_ids": [0, 1, 100 + n]}) for n in range(10)))
    done = run(str(path))
    assert "60.0%" in done.stdout  # 18 of 30 blocks
    assert "finds more than one of answers" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--near", "0.9"), "what the model answers"),
        (("--normalise", "lower"), "no normalisation `lower`"),
        (("--key", "requst"), "no column `requst`"),
        (("--sizes", "10,5"), "numbers above zero that rise"),
    ],
)
def test_what_is_wrong_is_said(log: str, arguments: tuple[str, ...], message: str):
    done = CliRunner().invoke(cli, ["measure", "cache", log, *arguments])
    assert done.exit_code in (1, 2)
    assert message in done.output


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('{"request": "a", "t": 1}\n{"t": 2}\n', "request of row 2 is empty"),
        ('{"request": "a", "t": 1}\n{"request": " ", "t": 2}\n', "request of row 2 is empty"),
        ('{"request": "a", "t": 1}\n{"request": "a"}\n', "None is no time"),
        ('{"request": "a", "t": "inf"}\n', "'inf' is no time"),
        ('{"hash_ids": [1]}\n{"hash_ids": 5}\n', "hash_ids of row 2 is no list"),
    ],
)
def test_a_row_that_lacks_something_is_named(lines: str, words: str, tmp_path: Path):
    (tmp_path / "log.jsonl").write_text(lines)
    assert words in run(str(tmp_path / "log.jsonl"), code=1).output


def test_a_version_that_only_later_rows_tell_is_part_of_the_key(tmp_path: Path):
    (tmp_path / "log.jsonl").write_text('{"request": "a"}\n{"request": "a", "model": "v2"}\n')
    assert hits(str(tmp_path / "log.jsonl")) == [0, 0]


@pytest.mark.parametrize("vectors", [{}, {"v": np.full((6, 1), "a")}])
def test_embeddings_that_are_none_are_named(log: str, vectors: dict[str, np.ndarray], tmp_path: Path):
    np.savez(tmp_path / "v.npz", **vectors)
    asked = (log, "--answer", "said", "--near", "0.9", "--embeddings", str(tmp_path / "v.npz"))
    assert "v.npz" in run(*asked, code=1).output

"""Bad traces through the command line: sorted, refused or flagged with the numbers of rows, never a traceback."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from unitcost.cli import cli

HEADER = "timestamp,input_tokens,output_tokens"
GOOD = [f"{i * 0.5},500,50" for i in range(100)]


def plan(path: Path) -> Result:
    words = [
        "plan",
        "serve",
        "--model",
        "llama-3.1-8b",
        "--gpu",
        "H100-80GB",
        "--precision",
        "bf16",
        "--ttft-p95",
        "2s",
    ]
    return CliRunner().invoke(cli, [*words, "--trace", str(path)])


def table(*rows: str, header: str = HEADER) -> str:
    return "\n".join([header, *rows]) + "\n"


@pytest.mark.parametrize(
    ("rows", "requests", "said"),
    [
        ([*GOOD[::-1]], 100, "sorted: 99 rows (3, 4, 5, 6, 7, ...): earlier than the row before"),
        ([GOOD[0], *GOOD], 101, "flagged: 1 rows (3): the same as the row before"),
        ([*GOOD, "60,-5,10"], 100, "refused: 1 rows (102): a negative number of tokens"),
        ([*GOOD, "60,500,0"], 101, "flagged: 1 rows (102): no output token: counted as one"),
        ([*GOOD, "60,10000000,5"], 100, "refused: 1 rows (102): longer than the"),
        ([*GOOD, "60,nan,5"], 100, "refused: 1 rows (102): input is 'nan'"),
        ([*GOOD, "inf,5,5"], 100, "refused: 1 rows (102): at is 'inf'"),
        ([*GOOD, "60"], 100, "refused: 1 rows (102): has 1 cells"),
        ([*GOOD, "9999999,5,5"], 101, "flagged: 1 rows (102): after a silence of more than 30 days"),
    ],
)
def test_a_bad_row_is_told_by_its_number(tmp_path: Path, rows: list[str], requests: int, said: str) -> None:
    path = tmp_path / "trace.csv"
    path.write_text(table(*rows))
    found = plan(path)
    assert found.exit_code == 0, found.output
    assert f" {requests} requests" in found.stdout
    assert said in found.stderr


def test_hashes_that_are_missing_on_some_rows_are_flagged(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text(table(*(f"{i},1024,50,{'1 2' if i % 2 else ''}" for i in range(20)), header=f"{HEADER},hash_ids"))
    found = plan(path)
    assert "flagged: 10 rows (2, 4, 6, 8, 10, ...): hash ids are missing: it shares nothing" in found.stderr
    assert "PROMPT CACHE" in found.stdout


@pytest.mark.parametrize(
    "content",
    [
        table(*GOOD).encode("utf-8-sig"),
        table(*GOOD).encode("utf-16"),
        gzip.compress(table(*GOOD).encode()),
        table(*GOOD).replace(",", ";").encode(),
        table(*GOOD).replace("\n", "\r\n").encode(),
        table(*(f"{1.7e12 + i * 500:.0f},500,50" for i in range(100))).encode(),
        json.dumps(
            [{"time": i * 0.5, "prompt_tokens": 500, "completion_tokens": 50} for i in range(100)], indent=2
        ).encode(),
    ],
    ids=["bom", "utf-16", "gzip", "semicolons", "carriage returns", "milliseconds", "indented json"],
)
def test_other_forms_of_the_same_trace_play_the_same(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "trace"
    path.write_bytes(content)
    found = plan(path)
    assert found.exit_code == 0, found.output
    assert "100 requests at 2.02 a second" in found.stdout


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (table().encode(), "no row of it can be played"),
        (table("5,500,50").encode(), "one request alone has no rate"),
        (table("5,500,50", "5,500,60", "6,-1,1").encode(), "a negative number of tokens"),
        (gzip.compress(table(*GOOD).encode())[:60], "damaged or ends early"),
        (bytes(range(256)), "neither a trace nor a log of calls"),
    ],
    ids=["empty", "header", "one", "one moment", "damaged", "binary"],
)
def test_what_cannot_be_played_is_refused_with_its_reason(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "trace"
    path.write_bytes(content)
    found = plan(path)
    assert found.exit_code == 1
    assert said in found.stderr
    assert "Traceback" not in found.output


def test_an_empty_folder_is_no_trace(tmp_path: Path) -> None:
    done = plan(tmp_path)
    assert done.exit_code == 2
    assert "the folder holds no file" in done.output

"""Stored objects: what they are, which run made them, and their GB-months."""

from __future__ import annotations

import csv
import gzip
import io
import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from work_files import SAMPLES, load, shown, take, take_text

from unitcost.errors import BadSetting, NeedsAnswer, UnknownName
from unitcost.facts.work import ARTIFACT_KINDS
from unitcost.readers.work.storage_kinds import kind_of, run_of

GIB = 2**30


def test_sample(tmp_path: Path, golden: Any) -> None:
    loaded = load(SAMPLES / "inventory.csv", tmp_path, period="2031-04")
    golden(SAMPLES / "inventory.golden", shown(loaded, "artifacts"))


@pytest.mark.parametrize(
    ("path", "kind", "rule"),
    [
        ("runs/7/checkpoints/step-100/optimizer.pt", "checkpoint", "word checkpoint"),
        ("runs/7/checkpoint-500/pytorch_model.bin", "checkpoint", "word checkpoint"),
        ("a/epoch=3.ckpt", "checkpoint", "ending of a checkpoint"),
        ("a/trainer_state.json", "checkpoint", "state of an optimizer"),
        ("checkpoints/run-1/train.log.gz", "log", "ending of a log"),
        ("tb/events.out.tfevents.1700000000.host", "log", "TensorBoard events"),
        ("logs/2031/a.json", "log", "word log"),
        ("embeddings/part-0.parquet", "embedding", "word embedding"),
        ("x/items.faiss", "embedding", "ending of a vector index"),
        ("feature-store/day=1/part-0.parquet", "feature table", "word feature"),
        ("datasets/c4/train-0.tar", "data set", "word data set"),
        ("x/part-0.snappy", "other", ""),
        ("x/part-0.parquet", "data set", "ending of a table"),
        ("m/llama.gguf", "model", "ending of a model"),
        ("models/fraud/3/config.json", "model", "word model"),
        ("w/best.pth", "model", "ending of weights"),
        ("catalogs/blog/modelling.txt", "other", ""),
        ("readme", "other", ""),
    ],
)
def test_kinds(path: str, kind: str, rule: str) -> None:
    assert kind_of(path) == (kind, rule)
    assert kind in ARTIFACT_KINDS


@pytest.mark.parametrize(
    ("path", "run"),
    [
        ("runs/r7/x.pt", "r7"), ("a/run=42/x", "42"), ("a/run_id=42/x", "42"), ("Runs/r7/x", "r7"), ("runs/x", ""),
        ("3/0123456789abcdef0123456789abcdef/artifacts/model/x", "0123456789abcdef0123456789abcdef"),
        ("wandb/run-20310401_120000-abc123/logs/x", "abc123"), ("prunes/r7/x", ""), ("x", ""),
    ],
)  # fmt: skip
def test_runs(path: str, run: str) -> None:
    assert run_of(path) == run


# --- inventory ----------------------------------------------------------------------------------------------------


def inventory(*rows: list[str]) -> str:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return text.getvalue()


ROW = ["b-1", "runs/r1/a.ckpt", "10", "2031-04-01T00:00:00.000Z", "STANDARD"]


def test_gb_months_need_a_period(tmp_path: Path) -> None:
    text = inventory(["b-1", "k", str(GIB), "2031-04-16T00:00:00.000Z", "STANDARD"])
    unknown = take_text(text, tmp_path)
    assert unknown.column("artifacts", "gb_months", "size_bytes") == [(None, str(GIB))]
    assert "GB-months are not known" in unknown.flags
    for period, share in (("2031-04", Fraction(1, 2)), ("2031-05", 1), ("2031-03", 0)):
        taken = take_text(text, tmp_path, period=period)
        assert [Fraction(cell) for cell in taken.column("artifacts", "gb_months")] == [share]
    with pytest.raises(BadSetting, match="2031-13"):
        take_text(text, tmp_path, period="2031-13")


@pytest.mark.parametrize("packed", [False, True])
def test_columns_are_told_by_their_cells(tmp_path: Path, packed: bool) -> None:
    text = inventory(ROW, ["b-1", "runs/r1/b%2Bc d.ckpt", "20", "2031-04-02T00:00:00.000Z", "GLACIER"]).encode()
    taken = take_text(gzip.compress(text) if packed else text, tmp_path)
    assert taken.plan.reader == "s3-inventory"
    assert taken.column("artifacts", "artifact_id", "size_bytes", "storage_class", "run", "resource_id") == [
        ("s3://b-1/runs/r1/a.ckpt", "10", "STANDARD", "r1", "b-1"),
        ("s3://b-1/runs/r1/b+c d.ckpt", "20", "GLACIER", "r1", "b-1"),
    ]


def test_columns_may_be_said(tmp_path: Path) -> None:
    text = inventory(["b-1", "k", "5", "7", "2031-04-01T00:00:00.000Z"])
    said = {"Size": "4", "LastModifiedDate": "5"}
    assert take_text(text, tmp_path, reader="s3-inventory", columns=said).column("artifacts", "size_bytes") == ["7"]
    with pytest.raises(UnknownName, match="did you mean `Size`"):
        take_text(text, tmp_path, reader="s3-inventory", columns={"Sise": "4"})
    with pytest.raises(BadSetting, match="'9'"):
        take_text(text, tmp_path, reader="s3-inventory", columns={"Size": "9"})
    with pytest.raises(NeedsAnswer, match="cannot be told"):
        take_text(text, tmp_path, reader="s3-inventory", columns={"LastModifiedDate": "5"})


@pytest.mark.parametrize("names", [["Bucket", "Key", "Size", "LastModifiedDate", "StorageClass"],
                                   ["bucket", "key", "size", "last_modified_date", "storage_class"]])  # fmt: skip
def test_a_header_is_read_too(tmp_path: Path, names: list[str]) -> None:
    taken = take_text(inventory(names, ROW), tmp_path)
    assert taken.plan.reader == "s3-inventory"
    assert taken.column("artifacts", "size_bytes", "kind") == [("10", "checkpoint")]


def test_a_parquet_inventory(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [
        {
            "bucket": "b-1",
            "key": "a%20b.log",
            "size": 10,
            "last_modified_date": "2031-04-01T00:00:00Z",
            "storage_class": "STANDARD",
        }
    ]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "inv.parquet")
    taken = take(tmp_path / "inv.parquet", tmp_path)
    assert taken.column("artifacts", "artifact_id", "size_bytes") == [("s3://b-1/a%20b.log", "10")]  # not encoded there


# --- listings -----------------------------------------------------------------------------------------------------


def test_s3api(tmp_path: Path) -> None:
    item = {"Key": "runs/r1/x.onnx", "LastModified": "2031-04-01T00:00:00+02:00", "Size": 7, "StorageClass": "STANDARD"}
    text = json.dumps({"Contents": [item, {**item, "Size": -1}, {"Key": "y"}, 5], "RequestCharged": None}, indent=4)
    taken = take_text(text, tmp_path)
    assert taken.plan.dialect == "aws s3api"
    assert taken.column("artifacts", "kind", "run", "size_bytes", "created_at") == [
        ("model", "r1", "7", "2031-03-31 22:00:00.000000")
    ]
    assert [(row, column) for row, column, _ in taken.rejects] == [(2, "size"), (3, "size"), (4, "")]
    assert "name no bucket" in taken.flags
    versions = {
        "Versions": [{**item, "VersionId": "v2", "IsLatest": True}, {**item, "VersionId": "v1", "IsLatest": False}]
    }
    found = take_text(json.dumps(versions), tmp_path).column("artifacts", "artifact_id")
    assert found == ["runs/r1/x.onnx", "runs/r1/x.onnx?versionId=v1"]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"bucket": "b", "name": "runs/r1/a.log", "size": "12", "storage_class": "NEARLINE", "update_time": "2031-04-01T00:00:00+0000",
          "creation_time": "2031-03-01T00:00:00+0000"}, ("b/runs/r1/a.log", "b", "12", "NEARLINE")),
        ({"name": "a.log", "container": "c", "properties": {"contentLength": 12, "blobTier": "Cool",
          "lastModified": "2031-04-01T00:00:00+00:00"}}, ("c/a.log", "c", "12", "Cool")),
    ],
)  # fmt: skip
def test_json_of_other_stores(tmp_path: Path, item: dict[str, Any], expected: tuple[str, ...]) -> None:
    taken = take_text(json.dumps([item]), tmp_path)
    assert taken.plan.reader == "object-listing"
    assert taken.column("artifacts", "artifact_id", "resource_id", "size_bytes", "storage_class") == [expected]


def test_a_table_of_any_tool(tmp_path: Path) -> None:
    text = "path,size_bytes,last_modified,tier\ns3://b/runs/r1/a.log,5,2031-04-01,HOT\ns3://b/x,much,2031-04-01,HOT\ns3://b/y,5\n"
    taken = take_text(text, tmp_path)
    assert taken.column("artifacts", "artifact_id", "resource_id", "run") == [("s3://b/runs/r1/a.log", "b", "r1")]
    assert [(row, column) for row, column, _ in taken.rejects] == [(2, "size"), (3, "")]


@pytest.mark.parametrize(
    ("total", "said"), [("TOTAL: 2 objects, 17 bytes (17 B)", False), ("TOTAL: 3 objects, 18 bytes (18 B)", True)]
)
def test_gsutil(tmp_path: Path, total: str, said: bool) -> None:
    text = f"        10  2031-04-01T00:00:00Z  gs://b/runs/r1/a.ckpt\n         7  2031-04-02T00:00:00Z  gs://b/x y.log\n{total}\n"
    taken = take_text(text, tmp_path)
    assert taken.column("artifacts", "artifact_id", "size_bytes", "kind") == [
        ("gs://b/runs/r1/a.ckpt", "10", "checkpoint"), ("gs://b/x y.log", "7", "log"),
    ]  # fmt: skip
    assert ("gsutil states" in taken.flags) == said
    assert not taken.rejects


def test_azcopy(tmp_path: Path) -> None:
    text = "INFO: runs/r1/a.ckpt;  Content Length: 10\nx.log; BlobType: Block; Content Length: 7\ny; Content Length: 1.00 KiB\n"
    taken = take_text(text, tmp_path)
    assert taken.column("artifacts", "artifact_id", "size_bytes") == [("runs/r1/a.ckpt", "10"), ("x.log", "7")]
    assert [(row, column) for row, column, _ in taken.rejects] == [(3, "size")]


# --- own table ----------------------------------------------------------------------------------------------------


def test_own_table(tmp_path: Path) -> None:
    text = (
        "artifact_id,size_bytes,kind,run,owner,gb_months,created_at,last_access,tag.Team\n"
        f"a.ckpt,{GIB},,r1,atlas,,2031-04-16,2031-04-20,ines\nb,5,model,,,0.5,,,\na.ckpt,5,,,,,,,\nc,5,poem,,,,,,\nd,-5,,,,,,,\n"
    )
    taken = take_text(text, tmp_path, period="2031-04")
    found = taken.column("artifacts", "artifact_id", "kind", "run", "owner", "gb_months")
    assert found == [
        ("a.ckpt", "checkpoint", "r1", "atlas", "0.500000000000"),
        ("b", "model", None, None, "0.500000000000"),
    ]
    assert taken.labels("artifacts", "tags")[0] == {"Team": "ines", "kind_rule": "ending of a checkpoint"}
    assert [(row, column) for row, column, _ in taken.rejects] == [(3, "period_start"), (4, "kind"), (5, "size_bytes")]


def test_the_run_formula(tmp_path: Path) -> None:
    """100 GB for a month at 0.02 USD beside 10 GPU-hours at 2.50 USD is 27.00 USD."""
    text = f"artifact_id,size_bytes\nruns/r1/all.ckpt,{100 * GIB}\n"
    [gb_months] = take_text(text, tmp_path, period="2031-04").column("artifacts", "gb_months")
    assert Decimal("2.50") * 10 + Decimal(gb_months) * Decimal("0.02") == Decimal("27.00")


CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.lists(CELL, min_size=2, max_size=7), max_size=5))
def test_no_row_breaks_it_and_nothing_is_lost(tmp_path: Path, rows: list[list[str]]) -> None:
    taken = take_text(inventory(["Bucket", "Key", "Size", "LastModifiedDate"], ROW[:4], *rows), tmp_path)
    assert taken.plan.rows_read == len(rows) + 1
    assert taken.column("artifacts", "artifact_id")[0] == "s3://b-1/runs/r1/a.ckpt"

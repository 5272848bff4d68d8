"""`unitcost measure model` and `merge`: one session on this machine, files of invented machines."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.measure.small_models import broken, labelled, linear

from unitcost.cli import cli
from unitcost.cli.output import print_section
from unitcost.jobs.measure_model_page import speed_section
from unitcost.measure.result_files import read_result
from unitcost.measure.result_writing import unfinished, write_result


def run(*arguments: str, code: int = 0):
    done = CliRunner().invoke(cli, ["measure", *arguments])
    assert done.exit_code == code, done.output
    return done


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Result file of a short session with two models, one of them bad, and one broken."""
    folder = tmp_path_factory.mktemp("bench")
    data, _ = labelled(folder / "data.npz", items=400)
    swapped = np.eye(4)[[1, 0, 2, 3]]
    out = folder / "here.json"
    run(
        "model", str(linear(folder / "good.onnx", np.eye(4))), str(linear(folder / "bad.onnx", swapped)),
        str(broken(folder / "nan.onnx")), "--data", str(data), "--runtimes", "ort", "--time", "1s", "--samples", "700",
        "--usd-per-hour", "1", "--margin", "0.02", "--out", str(out), "--json",
    )  # fmt: skip
    return out


def test_a_result_file_holds_everything(session: Path):
    found = json.loads(session.read_text())
    assert found["kind"] == "unitcost-measure-model"
    assert [option["model"] for option in found["options"]] == ["good", "bad", "nan"]
    assert "NaN" in found["options"][2]["failure"]
    assert len(found["truth"]) == 400
    assert found["machine"]["cores"] > 0
    assert found["options"][0]["memory_bytes"] > 1_000_000
    assert len(found["anchors"]) == 3


def test_speeds_fit_a_terminal(session: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setenv("COLUMNS", "80")
    print_section(speed_section(read_result(session)))
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert "good/ort/b1/t1 (fp32)" in printed
    assert "1.00 (1.00–1.00)" in printed


def test_the_bad_model_is_ruled_out_by_its_quality(session: Path):
    done = CliRunner().invoke(
        cli,
        [
            "compare",
            str(session),
            "--usd-per-hour",
            "1",
            "--reference",
            "good/ort/b1/t1 (fp32)",
            "--margin",
            "0.02",
            "--json",
        ],
    )
    answer = json.loads(done.stdout)
    assert answer["cheapest"] == "good/ort/b1/t1 (fp32)"
    assert answer["options"][1]["ruled_out"][0]["by"] == "quality"


def invented(
    session: Path, name: str, speed: float, folder: Path, *, precision: str = "fp32", anchors: bool = True
) -> str:
    """The session as if it came from a machine so many times as fast."""
    found = json.loads(session.read_text())
    found["machine"] |= {"instance": "", "cpu": f"invented {name}"}
    for row in [*found["options"], *found["anchors"]]:
        timing = row.get("timing")
        if timing:
            timing["quantiles_s"] = [0.001 / speed] * 201 if "quantiles_s" in timing else []
            timing["per_s"] = 1000.0 * speed
            timing["percentiles"] = {
                p: {"latency_s": 0.001 / speed, "bound_s": 0.001 / speed, "missing": 0} for p in ("p50", "p90", "p99")
            }
        if "precision" in row:
            row["precision"] = precision
    found["anchors"] = found["anchors"] if anchors else []
    path = folder / f"{name}.json"
    path.write_text(json.dumps(found))
    return str(path)


def test_the_cheapest_machine_changes_with_traffic_and_target(session: Path, tmp_path: Path):
    files = [
        invented(session, name, speed, tmp_path) for name, speed in (("small", 1.0), ("large", 3.0), ("card", 40.0))
    ]
    prices = [part for price in ("small=0.10", "large=0.40", "card=2.00") for part in ("--usd-per-hour", price)]

    def cheapest(*asked: str) -> str:
        answer = json.loads(
            run("merge", *files, *prices, "--reference", "good", "--margin", "0.02", *asked, "--json").stdout
        )
        return answer["cheapest"].partition("@")[2]

    assert cheapest("--traffic", "100/s", "--slo", "p99=20ms") == "small"
    assert cheapest("--traffic", "100/s", "--slo", "p99=900us") == "large"
    assert cheapest("--traffic", "30000/s", "--slo", "p99=20ms") == "card"


def test_a_margin_is_held_against_the_first_option_where_no_reference_is_named(session: Path, tmp_path: Path):
    files = (str(session), invented(session, "other", 2.0, tmp_path))
    prices = ("--usd-per-hour", "here=1", "--usd-per-hour", "other=1")
    said, unsaid = (
        json.loads(run("merge", *files, *prices, "--margin", "2pt", *more, "--json").stdout)
        for more in (("--reference", "good"), ())
    )
    assert unsaid == said
    assert unsaid["cheapest"].startswith("good/")


def test_a_session_without_anchors_is_refused(session: Path, tmp_path: Path):
    bare = invented(session, "bare", 1.0, tmp_path, anchors=False)
    assert "anchors were not run" in run("merge", str(session), bare, code=1).output


def changed(file: str, to: Path, change) -> str:
    """A result file with a change made to what it holds."""
    found = json.loads(Path(file).read_text())
    change(found)
    to.write_text(json.dumps(found))
    return str(to)


def test_sessions_with_other_anchors_or_versions_are_refused(session: Path, tmp_path: Path):
    other = invented(session, "other", 1.0, tmp_path)

    def one_anchor(found) -> None:
        found["anchors"] = [a for a in found["anchors"] if a["name"] == "anchor-conv"]

    def failed_anchor(found) -> None:
        found["anchors"][0]["failure"] = "out of memory"

    def other_suite(found) -> None:
        found["anchors"][0]["suite"] = 2

    def other_version(found) -> None:
        for option in found["options"]:
            option["version"] = "0.1"

    def no_options(found) -> None:
        del found["options"][0]["timing"]["quantiles_s"]

    for change, words in (
        (one_anchor, "anchor-matmul and anchor-pointwise did not run in ort"), (failed_anchor, "anchor-matmul did not run"),
        (other_suite, "suite 2"), (other_version, "ort is 0.1 here and"), (no_options, "a part is missing"),
    ):  # fmt: skip
        bad = changed(other, tmp_path / "bad.json", change)
        assert words in " ".join(run("merge", str(session), bad, code=1).output.split())
        compared = CliRunner().invoke(cli, ["compare", str(session), bad, "--usd-per-hour", "1"])
        assert compared.exit_code == 1
        assert words in compared.output
    mixed = changed(other, tmp_path / "bad.json", other_version)
    run("merge", str(session), mixed, "--mixed-versions")


def test_an_option_that_answers_otherwise_elsewhere_has_a_quality_of_its_own(session: Path, tmp_path: Path):
    def worse(found) -> None:
        good = found["options"][0]
        found["answers"]["worse"] = [0] * len(found["truth"])
        good["answers"] = "worse"

    there = changed(invented(session, "there", 2.0, tmp_path), tmp_path / "there.json", worse)
    answer = json.loads(run("merge", str(session), there, "--usd-per-hour", "here=1", "--usd-per-hour", "there=1",
                            "--json").stdout)  # fmt: skip
    qualities = {option["label"]: option["quality"] for option in answer["options"]}
    assert qualities["good/ort/b1/t1 (fp32)@here"] == 1.0
    assert qualities["good/ort/b1/t1 on there (fp32)@there"] < 0.5


def test_a_machine_that_nobody_measured_is_an_estimate_with_its_range(session: Path, tmp_path: Path):
    base, other = invented(session, "base", 1.0, tmp_path), invented(session, "other", 2.0, tmp_path)
    done = run(
        "merge", base, "--usd-per-hour", "base=1", "--usd-per-hour", "far=0.01", "--usd-per-hour", "near=0.01",
        "--estimate", "far", "--estimate", f"near={other}", "--reference", "good", "--margin", "0.02", "--json",
    )  # fmt: skip
    answer = json.loads(done.stdout)
    assert answer["cheapest"] == "good/ort/b1/t1 (fp32)@base"
    guessed = {o["label"]: o for o in answer["options"] if o["basis"] == "estimated"}
    assert guessed["good/ort/b1/t1 (fp32)@near"]["per_s"] == pytest.approx(2000)
    assert guessed["good/ort/b1/t1 (fp32)@far"]["per_s"] == pytest.approx(1000)
    assert all("basis" in [out["by"] for out in o["ruled_out"]] for o in guessed.values())
    assert answer["notes"][0].startswith("worth measuring next")


def test_other_data_and_other_files_are_refused(session: Path, tmp_path: Path):
    found = json.loads(session.read_text())
    found["data"]["sha256"] = "other"
    (tmp_path / "other.json").write_text(json.dumps(found))
    assert "other data" in run("merge", str(session), str(tmp_path / "other.json"), code=1).output
    (tmp_path / "no.json").write_text('{"kind": "something"}')
    assert "no result of the bench" in run("merge", str(tmp_path / "no.json"), code=1).output


def test_a_machine_of_the_price_book_has_its_price(session: Path):
    answer = json.loads(
        run("merge", str(session), "--machine", "here=m7i.large:us-east-1", "--as-of", "2026-11-01", "--json").stdout
    )
    assert all(option["infra_usd"] for option in answer["options"])


def test_without_labels_speed_is_measured_and_quality_is_not(tmp_path: Path):
    np.savez(tmp_path / "bare.npz", x=np.random.default_rng(0).standard_normal((20, 4)).astype(np.float32))
    model = str(linear(tmp_path / "m.onnx", np.eye(4)))
    asked = (
        "model",
        model,
        "--data",
        str(tmp_path / "bare.npz"),
        "--runtimes",
        "ort",
        "--time",
        "1s",
        "--samples",
        "5",
        "--usd-per-hour",
        "1",
    )
    answer = json.loads(run(*asked, "--json").stdout)
    assert answer["options"][0]["quality"] is None
    assert answer["cheapest"] is None
    assert answer["measured"][0]["timing"]["calls"] >= 5
    assert "a margin needs labels" in run(*asked, "--margin", "0.01", code=2).output


def test_a_latency_limit_without_a_percentile_is_one_of_p99(tmp_path: Path):
    data, _ = labelled(tmp_path / "data.npz")
    asked = ["model", str(linear(tmp_path / "m.onnx", np.eye(4))), "--data", str(data), "--runtime", "ort", "--time", "1s",
             "--samples", "662", "--usd-per-hour", "1", "--json"]  # fmt: skip
    easy, hard = (json.loads(run(*asked, "--slo-p99", limit).stdout) for limit in ("10s", "0.001us"))
    assert easy["options"][0]["ruled_out"] == []
    assert "p99" in json.dumps(hard["options"][0]["ruled_out"])


def test_a_runtime_that_dies_keeps_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from unitcost.measure import bench_run

    assert "exit code 1" in bench_run._child(
        ["unitcost.measure.one_runtime", "no-job", "no-result"], 60, lambda _: None
    )
    monkeypatch.setattr(bench_run, "_PATIENCE_S", -1e9)  # whatever runs takes too long
    data, _ = labelled(tmp_path / "data.npz")
    done = run("model", str(linear(tmp_path / "m.onnx", np.eye(4))), "--data", str(data), "--runtimes", "ort", code=1)
    assert "said nothing for" in done.output


def test_a_model_runs_in_the_runtimes_that_open_it(tmp_path: Path):
    data, _ = labelled(tmp_path / "data.npz")
    good = str(linear(tmp_path / "m.onnx", np.eye(4)))
    (tmp_path / "m.pt2").write_bytes(b"no program")
    short = ("--data", str(data), "--time", "1s", "--samples", "5", "--json")
    both = ("model", good, f"other={tmp_path / 'm.pt2'}", "--runtimes", "ort,torch", *short)
    measured = json.loads(run(*both).stdout)["measured"]
    assert [(option["model"], option["runtime"]) for option in measured] == [("m", "ort"), ("other", "torch")]
    assert measured[1]["failure"]  # torch is missing, or cannot read it; the model has no row in ort
    alone = json.loads(run("model", good, "--runtimes", "ort,torch", *short).stdout)
    assert [f["why"] for f in alone["failures"]] == ["torch: opens .pt2 and .pt and .ts, and no model is such a file"]
    assert "torch" in run("model", str(tmp_path / "m.pt2"), *short, code=1).output


def test_a_session_that_is_cut_off_leaves_what_it_has_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from unitcost.jobs import measure_model

    def cut_off(found, path: Path) -> None:
        if path.name == "here.json":
            raise KeyboardInterrupt
        write_result(found, path)

    monkeypatch.setattr(measure_model, "write_result", cut_off)
    data, _ = labelled(tmp_path / "data.npz")
    out = tmp_path / "here.json"
    asked = ["measure", "model", str(linear(tmp_path / "m.onnx", np.eye(4))), "--data", str(data), "--runtimes", "ort,tract",
             "--time", "1s", "--samples", "5", "--out", str(out)]  # fmt: skip
    assert CliRunner().invoke(cli, asked).exit_code != 0
    assert not out.exists()
    left = read_result(unfinished(out))
    assert (left.options[0]["model"], left.options[0]["runtime"]) == ("m", "ort")
    monkeypatch.undo()
    assert CliRunner().invoke(cli, asked).exit_code == 0
    assert sorted(path.name for path in tmp_path.glob("here.json*")) == ["here.json"]
    assert list(tmp_path.glob(".*")) == []


def test_where_a_result_cannot_be_written_nothing_is_measured_first(tmp_path: Path):
    data, _ = labelled(tmp_path / "data.npz")
    asked = (
        "model",
        str(linear(tmp_path / "m.onnx", np.eye(4))),
        "--data",
        str(data),
        "--runtimes",
        "ort",
        "--time",
        "60s",
    )
    done = run(*asked, "--out", str(tmp_path / "no" / "such" / "folder.json"), code=1)
    assert "No such file or directory" in done.output
    assert "in turns" not in done.output


def test_two_processes_that_write_one_file_leave_a_whole_one(tmp_path: Path):
    path = tmp_path / "result.json"
    with ThreadPoolExecutor(2) as both:
        writes = [both.submit(write_result, {"n": [place % 2] * 10_000}, path) for place in range(40)]
        for write in writes:
            write.result()
            assert len(set(json.loads(path.read_text())["n"])) == 1


def test_a_name_cannot_drive_the_terminal(tmp_path: Path):
    data, _ = labelled(tmp_path / "data.npz")
    model = linear(tmp_path / "m.onnx", np.eye(4))
    done = run("model", f"evil\x1b[31m\x1b]0;x\x07={model}", "--data", str(data), "--runtimes", "ort", "--time", "1s",
               "--samples", "5", "--usd-per-hour", "1", "--margin", "0.1")  # fmt: skip
    assert "\x1b" not in done.output
    assert "\\u001b" in done.output


def test_nothing_that_runs_is_an_error_with_every_reason(tmp_path: Path):
    data, _ = labelled(tmp_path / "data.npz")
    done = run(
        "model", str(broken(tmp_path / "nan.onnx")), "--data", str(data), "--runtimes", "ort", "--time", "1s", code=1
    )
    assert "nothing could be measured" in done.output
    assert "NaN" in done.output
    assert "no such model" in run("model", "x.onnx", "--data", str(data), code=1).output
    assert (
        "no runtime `orto`"
        in run("model", str(tmp_path / "nan.onnx"), "--data", str(data), "--runtimes", "orto", code=2).output
    )


@pytest.mark.shared
def test_texts_and_trees_of_real_models_have_their_quality(shared_data: Path):
    models = shared_data / "models"
    asked = ("--runtimes", "ort", "--time", "1s", "--samples", "20", "--json")
    texts = ("model", str(models / "tfidf_lr.onnx"), "--data", str(models / "banking77" / "test.csv"), *asked)
    [said] = json.loads(run(*texts).stdout)["options"]
    assert (said["quality"], said["items"]) == (pytest.approx(0.890, abs=0.001), 3080)
    digits = [str(models / f"{name}.onnx") for name in ("digits_lr", "digits_rf20")]
    answer = json.loads(run("model", *digits, "--data", str(models / "digits.npz"), *asked).stdout)
    assert all(option["quality"] > 0.95 for option in answer["options"])
    assert [option["precision"] for option in answer["options"]] == ["fp32", "fp32"]

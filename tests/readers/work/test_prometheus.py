"""Answers of Prometheus: every layout they come in, the labels that count, and what is wrong with them."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest
from tests.metrics import START_S, Desk, answer, series, steady, write

from unitcost.errors import UnitcostError
from unitcost.facts.source import ReadOptions
from unitcost.readers import find
from unitcost.readers.work import prometheus_answers, prometheus_metrics
from unitcost.readers.work.prometheus_answers import Broken, Series
from unitcost.units import KIB

TOKENS = "vllm:generation_tokens_total"
BUSY = "DCGM_FI_DEV_GPU_UTIL"
TWO = [series(TOKENS, [(0, 1), (60, 5)], pod="a"), series(BUSY, steady(50, 3), UUID="GPU-1", Hostname="n1")]
SAMPLES = "SELECT metric, workload_id, count(*), max(value) FROM series JOIN samples USING (load_id, series_key) GROUP BY ALL ORDER BY 1"
WANTED = [("generation_tokens", "a", 2, 5.0), ("gpu_utilisation", None, 3, 50.0)]


def sorted_keys(document: object) -> str:
    return json.dumps(document, sort_keys=True)


LAYOUTS = {
    "one answer": json.dumps(answer(*TWO)),
    "indented": json.dumps(answer(*TWO), indent=2),
    "keys sorted": sorted_keys(answer(*TWO)),
    "keys sorted and indented": json.dumps(answer(*TWO), indent=1, sort_keys=True),
    "an answer a line": "\n".join(json.dumps(answer(found)) for found in TWO),
    "an answer a line, blank lines, windows": "\r\n\r\n".join(json.dumps(answer(found)) for found in TWO) + "\r\n",
    "indented answers one after the other": "\n".join(json.dumps(answer(found), indent=2) for found in TWO),
    "a list of answers": json.dumps([answer(found) for found in TWO]),
    "a list of series": json.dumps(TWO),
    "a byte order mark": "\ufeff" + json.dumps(answer(*TWO)),
    "numbers, not texts": json.dumps(answer(*TWO)).replace('"50"', "50"),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_layout_says_the_same(layout: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    record = desk.take_text(LAYOUTS[layout], name="x.txt")
    assert (record.reader, record.dataset, record.rows_read, record.rows_rejected) == ("prometheus", "work", 2, 0)
    assert desk.rows(SAMPLES) == WANTED


def test_an_instant_answer_is_read(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    instant = {"metric": {"__name__": BUSY, "UUID": "GPU-1"}, "value": [START_S, "7"]}
    for number, text in enumerate((json.dumps(answer(instant, kind="vector")), json.dumps([instant], indent=2))):
        assert desk.take_text(text, name=f"{number}.json").rows_read == 1
    assert desk.rows("SELECT DISTINCT value FROM samples") == [(7.0,)]


def test_a_packed_answer_is_read(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.take_text(gzip.compress(json.dumps(answer(*TWO)).encode()), name="x.gz")
    assert desk.rows(SAMPLES) == WANTED


@pytest.mark.parametrize("pretty", [False, True])
def test_a_large_answer_goes_series_by_series(pretty: bool, tmp_path: Path) -> None:
    """Larger than what is read whole, so that the streaming ways are taken."""
    many = [series(TOKENS, [(60 * n, 10 * n + place) for n in range(1_500)], pod=f"p{place}") for place in range(20)]
    text = json.dumps(answer(*many), indent=1 if pretty else None)
    assert len(text) > 2 * prometheus_answers._SMALL > 256 * KIB
    desk = Desk(tmp_path)
    assert desk.take_text(text).rows_read == 20
    assert desk.rows("SELECT count(*), count(DISTINCT series_key), max(value) FROM samples") == [(30_000, 20, 15_009.0)]


def test_a_very_long_series_is_not_held_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus_answers, "_LONGEST", 64 * KIB)
    monkeypatch.setattr(prometheus_answers, "_BATCH", 100)
    text = json.dumps(answer(series(TOKENS, [(n, n) for n in range(20_050)], pod="a"), TWO[1]))
    desk = Desk(tmp_path)
    assert desk.take_text(text).rows_read == 2
    assert desk.rows(SAMPLES) == [("generation_tokens", "a", 20_050, 20_049.0), WANTED[1]]
    source = tmp_path / "scrape.prom"
    from unitcost.readers.survey import look
    from unitcost.readers.table import claimed

    found = [item for item, _ in prometheus_answers.answers(look(source, ReadOptions(), claimed))]
    assert max(len(item.points) for item in found if isinstance(item, Series)) == 100


def test_chunks_of_a_series_are_one_series(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    record = desk.take(
        answer(series(TOKENS, [(0, 1), (60, 2)], pod="a")), answer(series(TOKENS, [(120, 3)], pod="a"))
    )  # fmt: skip
    assert desk.rows("SELECT count(*) FROM series") == [(1,)]
    assert not record.flags


# --- what is recognised -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '{"code": 200, "status": "success", "data": [{"atlas": {"name": "atlas", "gpuHours": 3}}]}',
        '{"runs": [{"info": {"run_id": "1", "status": "FINISHED"}, "data": {"metrics": []}}]}',
        "service,day,unit,quantity\nchat,2031-09-01,predictions,7\n",
        '[{"BilledCost": 1, "status": "success", "data": "x"}]',
        "a note: 5\nanother note\n",
    ],
)
def test_other_files_are_not_claimed(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text(text)
    try:
        names = [name for name, _ in find(path, ReadOptions())]
    except UnitcostError:
        names = []
    assert "prometheus" not in names


def test_a_metric_has_one_meaning_and_a_name_one_unit() -> None:
    parts = [part for metric in prometheus_metrics.METRICS for part in prometheus_metrics.parts_of(metric)]
    names = [prometheus_metrics.canonical(native) for part in parts for native in part.natives]
    assert len(names) == len(set(names))
    units: dict[str, set[str]] = {}
    for part in parts:
        units.setdefault(part.name, set()).add(part.unit)
    several = {name: found for name, found in units.items() if len(found) > 1}
    both = {"tokens", prometheus_metrics.TOKENS_OR_BLOCKS}
    assert several == {"prefix_cache_queries": both, "prefix_cache_hits": both}
    assert not {prometheus_metrics.canonical(name) for name in prometheus_metrics.KUBE} & set(names)


@pytest.mark.parametrize(
    ("native", "name", "kind"),
    [
        ("vllm:generation_tokens_total", "generation_tokens", "counter"),
        ("vllm:generation_tokens", "generation_tokens", "counter"),
        ("vllm_generation_tokens_total", "generation_tokens", "counter"),
        ("vllm:e2e_request_latency_seconds_bucket", "request_latency_bucket", "bucket"),
        ("vllm:e2e_request_latency_seconds_sum", "request_latency_sum", "counter"),
        ("vllm:e2e_request_latency_seconds_count", "request_latency_count", "counter"),
        ("request_predict_seconds_count", "requests", "counter"),
        ("nv_inference_count", "predictions", "counter"),
        ("nv_inference_request_success", "requests", "counter"),
        ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "gpu_tensor_active", "gauge"),
        (":tensorflow:serving:request_count", "requests", "counter"),
    ],
)
def test_native_names_are_known_in_each_spelling(native: str, name: str, kind: str) -> None:
    metric = prometheus_metrics.lookup(native)
    assert metric is not None
    assert (metric.name, metric.kind) == (name, kind)


def test_metrics_that_are_not_read_are_named(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    [flag] = desk.take(answer(*TWO, series("go_goroutines", [(0, 5)]), series("up", [(0, 1)]))).flags
    assert flag == "Series of metrics that are not read: 2. They were passed over: go_goroutines, up."


# --- labels -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "card", "node", "pod"),
    [
        (
            {"gpu": "0", "UUID": "GPU-1", "Hostname": "n1", "exported_pod": "job", "exported_namespace": "ml",
             "exported_container": "main", "pod": "dcgm-exporter-x", "namespace": "monitoring", "container": "exporter"},
            "GPU-1", "n1", "ml/job",
        ),
        ({"UUID": "GPU-1", "Hostname": "n1", "pod": "job", "namespace": "ml", "container": "main"}, "GPU-1", "n1", "ml/job"),
        # An idle card carries the exporter's own pod, or none.
        ({"UUID": "GPU-1", "pod": "dcgm-exporter-x", "namespace": "monitoring"}, "GPU-1", None, None),
        ({"UUID": "GPU-1", "pod": "metrics-x", "container": "nvidia-dcgm-exporter"}, "GPU-1", None, None),
        ({"UUID": "GPU-1", "pod": "", "namespace": ""}, "GPU-1", None, None),
        ({"UUID": "GPU-1", "GPU_I_ID": "3", "GPU_I_PROFILE": "1g.10gb", "node": "n2"}, "GPU-1/3", "n2", None),
        ({"UUID": "GPU-1", "pod_name": "job", "pod_namespace": "ml"}, "GPU-1", None, "ml/job"),
        ({"UUID": "GPU-1", "Hostname": "dcgm-exporter-x", "node": "n3"}, "GPU-1", "n3", None),
    ],
)  # fmt: skip
def test_labels_in_both_spellings(
    labels: dict[str, str], card: str, node: str | None, pod: str | None, tmp_path: Path
) -> None:
    desk = Desk(tmp_path)
    desk.take(answer(series(BUSY, steady(1, 2), **labels)))
    assert desk.rows("SELECT resource_id, node, workload_id FROM series") == [(card, node, pod)]


def test_a_series_keeps_its_labels_sorted_and_its_native_name(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.take(answer(series(TOKENS, [(0, 1)], zone="z", engine="0", model_name="m")))
    assert desk.rows("SELECT native, unit, labels FROM series") == [
        (TOKENS, "tokens", {"engine": "0", "model_name": "m", "zone": "z"})
    ]


def test_cards_become_resources(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.take(answer(series(BUSY, steady(1, 5), UUID="GPU-1", Hostname="n1", modelName="NVIDIA H100 80GB HBM3")))
    [(card, node, model, quantity)] = desk.rows("SELECT resource_id, node, accelerator, quantity FROM resources")
    assert (card, node, model, quantity) == ("GPU-1", "n1", "H100-80GB", 1)


# --- units of the prefix cache ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "unit"),
    [
        ("vllm:prefix_cache_hits_total", "", "tokens"),
        ("vllm:gpu_prefix_cache_hits_total", "", "tokens or blocks"),
        ("vllm:gpu_prefix_cache_hits_total", "GPU prefix cache hits, in terms of number of cached blocks.", "blocks"),
        ("vllm:gpu_prefix_cache_hits_total", "GPU prefix cache hits, in terms of number of cached tokens.", "tokens"),
        ("vllm:gpu_prefix_cache_hits", "Hits, in blocks.", "blocks"),
    ],
)
def test_the_unit_of_prefix_cache_hits_is_that_of_the_help_text(
    name: str, text: str, unit: str, tmp_path: Path
) -> None:
    desk = Desk(tmp_path)
    helps = {"status": "success", "data": {name: [{"type": "counter", "help": text, "unit": ""}]}}
    record = desk.take(*([helps] if text else []), answer(series(name, [(0, 0), (60, 9)])))
    assert desk.rows("SELECT unit FROM series") == [(unit,)]
    assert any("help text" in flag for flag in record.flags) == (unit == "tokens or blocks")


# --- what is wrong ------------------------------------------------------------------------------------------------------


def test_an_answer_that_is_cut_off_keeps_what_is_whole(tmp_path: Path) -> None:
    text = json.dumps(answer(*(series(TOKENS, steady(n, 400), pod=f"p{n}") for n in range(50))), separators=(",", ":"))
    for number, share in enumerate((0.3, 0.999)):
        desk = Desk(tmp_path / str(number))
        record = desk.take_text(text[: int(len(text) * share)])
        whole = text[: int(len(text) * share)].count("]]}")
        assert record.rows_rejected == 1
        assert desk.rows("SELECT count(*) FROM series") == [(whole,)]
        assert "cut off" in desk.rejects()[0][3]


@pytest.mark.parametrize("seed", range(12))
def test_any_cut_and_any_noise_is_survived(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    text = json.dumps(answer(*TWO, *TWO), indent=seed % 2 or None)
    at = chance.randrange(120, len(text))
    noise = "".join(chance.choice('{}[]",:x1 \\\n') for _ in range(seed % 4 * 3))
    desk = Desk(tmp_path)
    path = tmp_path / "x.json"
    path.write_text(text[:at] + noise + (text[at:] if seed % 3 == 0 else ""))
    outcome = desk.load(path, reader="prometheus")
    assert outcome.failures or outcome.records[0].rows_read


def test_a_bad_line_does_not_keep_the_others_out(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    error = {"status": "error", "errorType": "bad_data", "error": "parse error: unexpected end"}
    lines = [answer(TWO[0]), error, answer(kind="scalar"), {"else": 1}, answer(TWO[1])]
    record = desk.take_text("\n".join(map(json.dumps, lines)) + '\n{"status":"success","data":{"resul')
    assert desk.rows(SAMPLES) == WANTED
    assert (record.rows_read, record.rows_rejected) == (6, 4)
    reasons = [reason for *_, reason in desk.rejects()]
    assert "parse error: unexpected end" in reasons[0]
    assert "scalar" in reasons[1]
    assert "no answer" in reasons[2]
    assert "cut off" in reasons[3]


def test_an_error_answer_by_itself_is_told(tmp_path: Path) -> None:
    for indent in (None, 2):
        desk = Desk(tmp_path / str(indent))
        text = json.dumps({"status": "error", "errorType": "timeout", "error": "query timed out"}, indent=indent)
        assert desk.take_text(text).rows_rejected == 1
        assert "query timed out" in desk.rejects()[0][3]


def test_a_series_without_a_name_is_set_aside(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    nameless = {"metric": {"pod": "a"}, "values": [[START_S, "3"]]}
    assert desk.take(answer(TWO[0], nameless)).rows_rejected == 1
    [(row, column, _, reason)] = desk.rejects()
    assert (row, column) == (2, "__name__")
    assert "drops the name" in reason


@pytest.mark.parametrize(
    "item",
    [7, [], {}, {"metric": 5, "values": []}, {"metric": {"__name__": TOKENS}},
     {"metric": {"__name__": TOKENS}, "histograms": [[START_S, {"count": "3"}]]},
     {"metric": {"__name__": TOKENS}, "values": 3}, {"metric": {"__name__": 5}, "values": []}],
)  # fmt: skip
@pytest.mark.parametrize("indent", [None, 1])
def test_what_is_no_series_is_set_aside(item: object, indent: int | None, tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    document = answer(TWO[0])
    document["data"]["result"].append(item)
    record = desk.take_text(json.dumps(document, indent=indent))
    assert desk.rows("SELECT metric FROM series WHERE workload_id IS NOT NULL") == [("generation_tokens",)]
    assert record.rows_rejected <= 1
    if indent is None:
        assert record.rows_rejected == 1


@pytest.mark.parametrize(
    ("point", "reason"),
    [
        ([START_S, "-5"], "negative"),
        ([START_S, "1_0"], "not a number"),
        ([START_S, "many"], "not a number"),
        ([START_S, None], "not a number"),
        ([START_S, True], "not a number"),
        ([START_S, "1e200"], "too large"),
        ([START_S * 1_000, "5"], "not seconds"),
        (["soon", "5"], "soon"),
        ([None, "5"], "not seconds"),
        ([START_S], "a time and a number"),
        (5, "a time and a number"),
    ],
)
def test_a_bad_point_is_set_aside_and_the_others_load(point: object, reason: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    found = series(TOKENS, [(0, 1), (60, 5)], pod="a")
    found["values"].insert(1, point)
    assert desk.take(answer(found)).rows_rejected == 1
    assert desk.rows(SAMPLES) == [WANTED[0]]
    [(row, column, value, said)] = desk.rejects()
    assert (row, column, value) == (1, "values", json.dumps(point))
    assert reason in said


def test_many_bad_points_of_a_series_are_counted(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.take(answer(series(TOKENS, [(60 * n, -1) for n in range(500)])))
    assert len(desk.rejects()) == 21
    assert desk.rejects()[-1][3].startswith("480 more points")
    assert desk.rows("SELECT count(*) FROM series") == [(0,)]


def test_a_gauge_may_be_negative(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    assert desk.take(answer(series("DCGM_FI_DEV_POWER_USAGE", [(0, -1)], UUID="GPU-1"))).rows_rejected == 0


def test_no_number_is_kept_as_unknown_and_said(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    points = [(0, 50), (60, "NaN"), (120, "+Inf"), (180, 50)]
    flags = " ".join(desk.take(answer(series(BUSY, points, UUID="GPU-1"))).flags)
    assert "Samples that are NaN: 1." in flags
    assert "Samples that are infinite: 1." in flags
    with desk.ledger() as ledger:
        [row] = ledger.gauges()
    assert (row.mean, row.known_s, row.unknown_s) == (50.0, 120, 120)


def test_a_clock_that_goes_back_is_put_in_order_and_said(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    record = desk.take(answer(series(TOKENS, [(120, 30), (0, 10), (60, 20)])))
    assert "go back in time" in record.flags[0]
    with desk.ledger() as ledger:
        assert [(row.quantity, row.restarts) for row in ledger.increments()] == [(20, 0)]


def test_a_series_that_stands_twice_counts_once_and_is_said(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    record = desk.take(answer(TWO[0], TWO[0]))
    assert "overlapping times" in record.flags[0]
    with desk.ledger() as ledger:
        assert [row.quantity for row in ledger.increments()] == [4]


def test_warnings_of_the_server_are_said(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    assert "exceeded" in desk.take(answer(TWO[0]) | {"warnings": ["limit exceeded"]}).flags[0]


def test_a_broken_packing_is_an_error(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    packed = gzip.compress(json.dumps(answer(*(TWO * 2_000))).encode())
    path = tmp_path / "x.gz"
    path.write_bytes(packed[: len(packed) // 2])
    outcome = desk.load(path)
    assert outcome.failures
    assert not desk.rows("SELECT * FROM loads")


def test_what_is_read_is_never_broken_for_good_files(tmp_path: Path) -> None:
    from unitcost.readers.survey import look
    from unitcost.readers.table import claimed

    path = write(tmp_path / "x.json", answer(*TWO))
    found = [item for item, _ in prometheus_answers.answers(look(path, ReadOptions(), claimed))]
    assert not any(isinstance(item, Broken) for item in found)


def test_a_share_that_is_none_is_unknown_and_said(tmp_path: Path) -> None:
    """A negative share, and the blanks of DCGM for whole and for fractional numbers."""
    desk = Desk(tmp_path)
    points = [(0, 50), (60, -10), (120, 0x7FFFFFF0), (180, 140_737_488_355_328.0), (240, 50)]
    flags = " ".join(desk.take(answer(series(BUSY, points, UUID="GPU-1"))).flags)
    assert "DCGM says that it has no value: 3." in flags
    with desk.ledger() as ledger:
        [row] = ledger.gauges()
    assert (row.mean, row.known_s, row.unknown_s) == (50.0, 120, 180)

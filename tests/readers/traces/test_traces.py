"""Reading traces, good and bad."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from tests.serving.grids import grid

from unitcost.errors import BadFile, BadSetting
from unitcost.facts.arrivals import LengthQuantiles, RateCurve
from unitcost.readers.traces import read
from unitcost.readers.traces.servegen import read_quantiles, read_rates
from unitcost.serving.arrivals import Finding, checked
from unitcost.serving.fleet import Fleet, Targets
from unitcost.serving.outcome import simulate
from unitcost.serving.synthetic import constant, from_curve

HEADER = "timestamp,input_tokens,output_tokens,hashes\n"


def written(folder: Path, text: str, name: str = "trace.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def by_reason(findings: list[Finding]) -> dict[str, tuple[str, tuple[int, ...]]]:
    return {finding.reason: (finding.what, finding.rows) for finding in findings}


def test_a_table_with_hashes(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER + "0.5,1000,20,1 2\n2.0,600,5,1|9\n")
    requests, findings = checked(read(path))
    assert findings == []
    assert requests.arrival_s.tolist() == [0.0, 1.5]
    assert (requests.hashes.tolist(), requests.hash_from.tolist(), requests.hash_tokens) == (
        [1, 2, 1, 9],
        [0, 2, 4],
        512,
    )


def test_a_bad_table_is_sorted_refused_and_flagged_by_row(tmp_path: Path) -> None:
    rows = [
        "10,1000,20,1 2",  # 2
        "5,1000,20,1 2",  # 3: earlier than the row before
        "11,-5,20,3",  # 4
        "12,700,-1,3 4",  # 5
        "13,700,0,3 4",  # 6: no output
        "14,0,5,",  # 7
        "15,10000000,5,",  # 8: a prompt of ten million tokens
        "16,700,5,",  # 9: hashes missing
        "17,700,5,3 4",  # 10
        "17,700,5,3 4",  # 11: the same again
        "x,700,5,3 4",  # 12
        "18,7e2,nan,3 4",  # 13
        "19,700",  # 14
        "20,700,5,3 4 5 6",  # 15: too many hashes
    ]
    path = written(tmp_path, HEADER + "\n".join(rows) + "\n")
    requests, findings = checked(read(path), context_tokens=131_072)
    assert by_reason(findings) == {
        "at is 'x'": ("refused", (12,)),
        "output is 'nan'": ("refused", (13,)),
        "has 2 cells, the header more": ("refused", (14,)),
        "a prompt without a token": ("refused", (7,)),
        "a negative number of tokens": ("refused", (4, 5)),
        "longer than the 131,072 tokens that a request may have": ("refused", (8,)),
        "no output token: counted as one": ("flagged", (6,)),
        "hash ids are missing: it shares nothing": ("flagged", (9,)),
        "the number of hash ids does not match the prompt": ("flagged", (15,)),
        "earlier than the row before": ("sorted", (3,)),
        "the same as the row before": ("flagged", (11,)),
    }
    assert requests.arrival_s.tolist() == [0, 5, 8, 11, 12, 12, 15]
    assert requests.output_tokens.tolist() == [20, 20, 1, 5, 5, 5, 5]
    assert str(findings[0]).startswith("refused: 1 rows (12): at is 'x'")


def test_a_prompt_of_ten_million_tokens_is_flagged_and_no_replica_takes_it(tmp_path: Path) -> None:
    path = written(tmp_path, "timestamp,input_tokens,output_tokens\n0,10000000,5\n1,700,5\n")
    requests, findings = checked(read(path))
    assert by_reason(findings) == {"a very long prompt": ("flagged", (2,))}
    outcome = simulate(requests, Fleet(grid=grid(), places={"on-demand": 1}), Targets())
    assert (outcome.rejected, outcome.answered) == (1, 1)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("timestamp,input_tokens,output_tokens\n", "no row of it can be played"),
        ("timestamp,input_tokens,output_tokens\n0,0,0\n", "no row of it can be played"),
        ("a,b\n1,2\n", "is no request trace"),
        ("", "the file is empty"),
    ],
)
def test_what_cannot_be_played_is_an_error(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(BadFile, match=what):
        checked(read(written(tmp_path, text)))


def test_mooncake_lines(tmp_path: Path) -> None:
    rows = [
        {"timestamp": 3000, "input_length": 600, "output_length": 5, "hash_ids": [0, 1]},
        {"timestamp": 0, "input_length": 500, "output_length": 5, "hash_ids": [0]},
        {"timestamp": 1, "input_length": 1.5, "output_length": 5, "hash_ids": [0]},
        {"timestamp": 1, "input_length": 10, "output_length": 5, "hash_ids": "no"},
        {"timestamp": 1, "input_length": 10, "output_length": None},
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows) + "{broken\n[]\n"
    requests, findings = checked(read(written(tmp_path, text, "trace.jsonl")))
    assert requests.arrival_s.tolist() == [0.0, 3.0]
    assert requests.hashes.tolist() == [0, 0, 1]
    assert {row for finding in findings if finding.what == "refused" for row in finding.rows} == {3, 4, 5, 6, 7}


def test_azures_trace_with_seven_digits_of_a_second(tmp_path: Path, shared_traces: Path) -> None:
    text = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.0319600,3180,8\n"
    requests, _ = checked(read(written(tmp_path, text)))
    assert requests.arrival_s == pytest.approx([0.0, 0.052], abs=1e-6)
    whole, findings = checked(read(shared_traces / "azure2023_code.csv"))
    assert len(whole) == 8_819
    assert not [finding for finding in findings if finding.what == "refused"]
    gaps = np.diff(whole.arrival_s)
    assert gaps.std() / gaps.mean() == pytest.approx(13, abs=0.5)


def test_a_rate_curve_with_length_quantiles(shared_traces: Path) -> None:
    curve = read_rates(shared_traces / "servegen_language_m-small_rate_10min.csv")
    lengths = read_quantiles(shared_traces / "servegen_token_quantiles.csv", group="language_m-small")
    inputs, outputs = ([q for q in lengths if q.field == f"{name}_tokens"] for name in ("input", "output"))
    assert (len(curve.per_s), curve.step_s) == (2_016, 600)
    requests = from_curve(curve, inputs, outputs, scale=2e-4)
    expected = sum(curve.per_s) * curve.step_s * 2e-4
    assert len(requests) == pytest.approx(expected, abs=5 * expected**0.5)
    assert requests.duration_s == 14 * 86_400
    means = [
        np.mean([np.interp(np.linspace(0, 1, 2001), [0, *q.shares], [1, *q.tokens]).mean() for q in side])
        for side in (inputs, outputs)
    ]
    assert requests.input_tokens.mean() == pytest.approx(means[0], rel=0.15)
    assert requests.output_tokens.mean() == pytest.approx(means[1], rel=0.15)


def test_a_rate_curve_in_another_encoding_or_packed(tmp_path: Path) -> None:
    plain = b"t,rate,where\n0,1,Z\xfcrich\n600,2,Z\xfcrich\n"
    (tmp_path / "latin.csv").write_bytes(plain)
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(plain))
    assert (
        list(read_rates(tmp_path / "latin.csv").per_s) == list(read_rates(tmp_path / "packed.csv.gz").per_s) == [1, 2]
    )


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("t,rate\n0,1\n600,nan\n", "`rate` is 'nan'"),
        ("t,rate\n0,1\n600,inf\n", "`rate` is 'inf'"),
        ("t,rate\n0,1\n600,-1\n", "below zero"),
        ("t,rate\n0,1\n", "fewer than two rows"),
        ("t,rate\n0,1\n600,1\n1800,1\n", "not equal"),
        ("", "empty"),
    ],
)
def test_a_rate_curve_that_cannot_be(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(BadFile, match=what):
        read_rates(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("client,field,mean,q50,q100\na,input_tokens,5,1,nan\n", "`q100` is 'nan'"),
        ("client,field,mean,q50,q100\na,input_tokens,5,9,1\n", "fall"),
        ("client,field,mean,q100,q50\na,input_tokens,5,1,9\n", "fall"),
        ("client,field,mean,q50,q300\na,input_tokens,5,1,9\n", "fall"),
        ("client,field,mean,q50,q100\na,input_tokens,5,-1,9\n", "below zero"),
        ("client,field,mean,q50,q100\n", "no row"),
    ],
)
def test_lengths_that_cannot_be(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(BadFile, match=what):
        read_quantiles(written(tmp_path, text))


def test_a_set_of_lengths_that_is_not_there(tmp_path: Path) -> None:
    text = "set,client,field,mean,q50,q100\nchat,a,input_tokens,5,1,9\n"
    with pytest.raises(BadFile, match="no row of the set 'code'"):
        read_quantiles(written(tmp_path, text), group="code")


@pytest.mark.parametrize("rate", [1e9, float("inf"), float("nan")])
def test_more_requests_than_can_be_drawn(rate: float) -> None:
    with pytest.raises(BadSetting, match="requests"):
        from_curve(
            RateCurve(name="flood", step_s=3600, per_s=[rate]),
            *[[LengthQuantiles(client="a", field=side, mean=1, shares=[1.0], tokens=[1])] for side in ("in", "out")],
        )


def test_line_ends_of_an_old_mac(tmp_path: Path) -> None:
    text = "timestamp,input_tokens,output_tokens\r0,10,5\r2,11,6\r"
    requests, _ = checked(read(written(tmp_path, text)))
    assert requests.input_tokens.tolist() == [10, 11]


def test_a_constant_rate() -> None:
    requests = constant(per_s=5, input_tokens=1500, output_tokens=300, duration_s=10_000)
    assert len(requests) == pytest.approx(50_000, abs=1_000)
    assert requests.duration_s == 10_000
    assert (
        constant(per_s=5, input_tokens=1, output_tokens=1).arrival_s.tobytes()
        == constant(per_s=5, input_tokens=1, output_tokens=1).arrival_s.tobytes()
    )
    with pytest.raises(BadSetting, match="not above zero"):
        constant(per_s=0, input_tokens=1, output_tokens=1)


def test_times_that_were_rounded_are_spread(tmp_path: Path) -> None:
    text = "timestamp,input_tokens,output_tokens\n" + "".join(f"{3 * (i // 100)},10,5\n" for i in range(1000))
    requests, _ = checked(read(written(tmp_path, text)), spread_s=3.0)
    assert len(set(requests.arrival_s.tolist())) == 1000
    assert requests.arrival_s[-1] < 30

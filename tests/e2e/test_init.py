"""`init` writes entries that match each readable file once, and no other file."""

from __future__ import annotations

import tomllib
from collections import Counter

import pytest

from tests.e2e.conftest import Desk
from tests.e2e.focus_bill import row, text
from unitcost.jobs.finding import expand

BILL = text([row(0)])
OUTPUTS = "service,day,unit,quantity\nfraud,2031-06-01,predictions,1000\n"


def entries(desk: Desk) -> list[str]:
    """Paths of the entries that `init` writes, after it has been run."""
    result = desk.run("init", "--force")
    assert result.exit_code == 0, result.output
    settings = tomllib.loads((desk.folder / "unitcost.toml").read_text(encoding="utf-8"))
    return [entry["path"] for entry in settings.get("load", [])]


def matched(desk: Desk, paths: list[str]) -> Counter[str]:
    """How often each file is matched."""
    return Counter(
        file.relative_to(desk.folder).as_posix() for path in paths for file in expand(path, desk.folder)
    )  # fmt: skip


READABLE = {
    "top.csv": BILL, "bills/a.csv": BILL, "bills/out.csv": OUTPUTS, "bills/b.csv.gz.csv": BILL, "all/one.csv": BILL,
    "all/two.csv": OUTPUTS, "all/deep/three.csv": BILL, "same/x.csv": BILL, "same/y.csv": BILL, "odd [1]/x.csv": BILL,
    "odd [1]/y.csv": BILL, "odd1/x.csv": BILL, "bare/no_suffix": BILL, "bare/x.csv": BILL, 'quo"te/a.csv': BILL,
}  # fmt: skip
UNREADABLE = {
    "bills/readme.txt": "hello world\n", "bills/x.json": '{"a": 1}', "bills/empty.csv": "", "bills/bad.csv": "foo,bar\n1,2\n",
    "notes.csv": "nothing\n", "odd [1]/.hidden.csv": BILL, "same/latin.txt": "x",
}  # fmt: skip


def test_each_readable_file_is_matched_once_and_no_other(desk: Desk) -> None:
    for number, (name, content) in enumerate((READABLE | UNREADABLE).items()):
        desk.write(name, content.replace("machine-0", f"machine-{number}"))
    paths = entries(desk)
    assert matched(desk, paths) == dict.fromkeys(READABLE, 1)
    assert len(paths) == len(set(paths))
    assert "same/*.csv" in paths
    assert "all/*.csv" in paths
    assert "bills/a.csv" in paths
    answer = desk.load("--max-rejects", "9")
    assert {found["file"] for found in answer["files"]} == set(READABLE)


def test_a_pattern_names_all_readers_of_its_files(desk: Desk) -> None:
    desk.write("all/one.csv", BILL)
    desk.write("all/two.csv", OUTPUTS)
    assert entries(desk) == ["all/*.csv"]
    assert "# focus, outputs-csv" in (desk.folder / "unitcost.toml").read_text(encoding="utf-8")


def test_a_link_to_a_file_that_is_there_is_not_matched_again(desk: Desk) -> None:
    desk.write("a/x.csv", BILL)
    (desk.folder / "b").mkdir()
    (desk.folder / "b/x.csv").symlink_to(desk.folder / "a/x.csv")
    assert matched(desk, entries(desk)) == {"a/x.csv": 1}


def test_what_is_not_read_is_said_with_what_to_do(desk: Desk) -> None:
    (desk.folder / "latin.csv").write_bytes(text([row(0, ServiceName="Zürich")]).encode("latin-1"))
    assert entries(desk) == []
    result = desk.run("init", "--force")
    assert "latin.csv: not read (byte 0xfc" in result.stderr
    assert "name it with --encoding latin-1" in result.stderr


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_settings_are_not_overwritten_unasked(desk: Desk, force: tuple[str, ...]) -> None:
    desk.write("unitcost.toml", "# mine\n")
    assert desk.run("init", *force).exit_code == (0 if force else 2)
    kept = (desk.folder / "unitcost.toml").read_text(encoding="utf-8") == "# mine\n"
    assert kept is not bool(force)

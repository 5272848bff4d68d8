"""What is no file, no folder or no settings is refused with what it is, where, and what to do; nothing is passed over."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Desk
from tests.e2e.focus_bill import row, text
from unitcost import load, open_workspace
from unitcost.jobs import ahead, finding

POSIX = pytest.mark.skipif(os.name == "nt", reason="needs pipes, sockets and names of any bytes")
BILL = text([row(0)])


def failures(desk: Desk, *paths: str) -> dict[str, str]:
    """File -> message of the files that could not be loaded."""
    answer = desk.load(*paths, code=1)
    assert all(found["mend"] for found in answer["failures"])
    return {found["file"]: found["what"] for found in answer["failures"]}


@pytest.fixture
def odd(desk: Desk) -> Iterator[Desk]:
    """A folder of things that are no files, and one bill."""
    desk.write("in/bill.csv", BILL)
    folder = desk.folder / "in"
    os.mkfifo(folder / "pipe.csv")
    (folder / "gone.csv").symlink_to("nowhere.csv")
    (folder / "loop.csv").symlink_to("loop.csv")
    Path(os.fsdecode(os.fsencode(folder) + b"/latin\xe9.csv")).write_text(BILL, encoding="utf-8")
    here = Path.cwd()
    os.chdir(folder)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.csv")
        os.chdir(here)
        yield desk


SAID = {
    "pipe.csv": "it is a pipe, not a file",
    "socket.csv": "it is a socket, not a file",
    "gone.csv": "it is a link to `nowhere.csv`, which is not there",
    "loop.csv": "the file cannot be read (Too many levels of symbolic links)",
    "latin\\xe9.csv": "the file's name is not valid UTF-8",
}


@POSIX
def test_what_is_no_file_is_named_and_the_rest_loads(odd: Desk) -> None:
    expected = {f"in/{name}": said for name, said in SAID.items()}
    assert failures(odd, str(odd.folder / "in")) == expected
    assert failures(odd, str(odd.folder / "in/*")) == expected
    assert odd.report()["total"] == {"USD": "1"}
    for name in ("pipe.csv", "gone.csv"):
        assert failures(odd, str(odd.folder / "in" / name)) == {f"in/{name}": SAID[name]}
    printed = odd.run("load", str(odd.folder / "in"))
    assert printed.exit_code == 1
    assert "latin\\xe9.csv: the file's name is not valid UTF-8. Mend: rename it" in printed.stderr


@POSIX
def test_init_names_what_is_no_file(odd: Desk) -> None:
    result = odd.run("init")
    assert result.exit_code == 0
    for name, said in SAID.items():
        assert f"in/{name}: not read ({said}" in result.stderr
    assert 'path = "in/bill.csv"' in (odd.folder / "unitcost.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("bil.csv", "there is no such file; did you mean `bill.csv`?"),
        ("nowhere/bill.csv", "there is no such file, nor its folder"),
        ("*.parquet", "no file matches the pattern"),
        ("s*", "only folders match the pattern"),
        ("a" * 300, "the file cannot be read (File name too long)"),
    ],
)
def test_a_path_that_leads_to_no_file(desk: Desk, path: str, said: str) -> None:
    desk.write("bill.csv", BILL)
    (desk.folder / "sub").mkdir()
    assert list(failures(desk, str(desk.folder / path)).values()) == [said]


def test_a_device_is_no_file(desk: Desk) -> None:
    assert failures(desk, os.devnull)[os.devnull] == "it is a device, not a file"


def test_an_empty_path_is_not_this_folder(desk: Desk) -> None:
    result = desk.run("load", "")
    assert result.exit_code == 2
    assert "a path to load is empty" in result.stderr


@pytest.mark.parametrize("path", ["a\0b.csv", "a\0*"])
def test_a_zero_byte_in_a_path(desk: Desk, path: str) -> None:
    ((name, error),) = load(open_workspace(desk.folder), [path]).failures
    assert "\0" not in name
    assert "null" in str(error)


def test_a_folder_that_cannot_be_listed_is_named(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write("in/bill.csv", BILL)
    desk.write("in/closed/bill.csv", BILL)

    def refusing(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any = ".") -> Any:
            if str(path).endswith("closed"):
                raise PermissionError(13, "Permission denied", str(path))
            return function(path)

        return call

    monkeypatch.setattr(os, "scandir", refusing(os.scandir))
    monkeypatch.setattr(os, "listdir", refusing(os.listdir))
    said = "the folder cannot be listed (Permission denied)"
    assert failures(desk, str(desk.folder / "in")) == {"in/closed": said}
    assert failures(desk, str(desk.folder / "in/closed")) == {"in/closed": said}
    assert desk.report()["total"] == {"USD": "1"}


def test_a_file_that_cannot_be_opened_does_not_keep_the_others_out(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.csv", "b.csv"):
        desk.write(name, text([row(0, ResourceId=name)]))
    hashing = ahead.sha256_of

    def sha256(file: Path) -> str:
        if file.name == "a.csv":
            raise PermissionError(13, "Permission denied", str(file))
        return hashing(file)

    monkeypatch.setattr(ahead, "sha256_of", sha256)
    assert failures(desk, str(desk.folder)) == {"a.csv": "the file cannot be read (Permission denied)"}
    assert desk.report()["total"] == {"USD": "1"}


def test_links_to_folders_are_followed_once(tmp_path: Path) -> None:
    (tmp_path / "in/sub").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    (tmp_path / "in/sub/a.csv").write_text("", encoding="utf-8")
    (tmp_path / "out/b.csv").write_text("", encoding="utf-8")
    (tmp_path / "in/sub/up").symlink_to("..", target_is_directory=True)
    (tmp_path / "in/far").symlink_to(tmp_path / "out", target_is_directory=True)
    found = [file.relative_to(tmp_path).as_posix() for file in finding.walk(tmp_path / "in")]
    assert found == ["in/far/b.csv", "in/sub/a.csv"]


def test_a_pattern_matches_as_in_a_shell(desk: Desk) -> None:
    for name in ("a.csv", ".a.csv", "sub/a.csv", "[1].csv"):
        desk.write(name, BILL)
    assert [file.name for file in finding.expand("*.csv", desk.folder)] == ["[1].csv", "a.csv"]
    assert [file.name for file in finding.expand("[1].csv", desk.folder)] == ["[1].csv"]
    assert len(finding.expand("**/*.csv", desk.folder)) == 3


def test_an_entry_says_nothing_about_files_that_its_pattern_does_not_match(desk: Desk) -> None:
    desk.write("in/a.csv", text([row(0, BillingCurrency="")]))
    desk.write("in/sub/b.csv", text([row(1, BillingCurrency="")]))
    desk.write("unitcost.toml", '[[load]]\npath = "in/*.csv"\ncurrency = "USD"\n')
    answer = desk.load(str(desk.folder / "in"), code=1)
    assert [found["file"] for found in answer["files"]] == ["in/a.csv"]
    assert [found["file"] for found in answer["failures"]] == ["in/sub/b.csv"]


@pytest.mark.parametrize("command", ["report", "check", "load"])
def test_a_file_in_the_place_of_the_ledgers_folder(desk: Desk, command: str) -> None:
    desk.write(".unitcost", "something")
    arguments = [str(desk.write("bill.csv", BILL))] if command == "load" else []
    result = desk.run(command, *arguments)
    assert result.exit_code == 1
    assert (
        ".unitcost: the ledger needs a folder of this name, and it is something else. Mend: move it away"
        in result.stderr
    )


def test_a_folder_of_the_ledger_that_cannot_be_made(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, **_: Any) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    bill = str(desk.write("bill.csv", BILL))
    monkeypatch.setattr(Path, "mkdir", refuse)
    result = desk.run("load", bill)
    assert result.exit_code == 1
    assert (
        ".unitcost: the folder of the ledger cannot be made (Permission denied). Mend: check the rights"
        in result.stderr
    )


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (Path.mkdir, "it is a folder"),
        pytest.param(lambda path: os.mkfifo(path), "it is a pipe", marks=POSIX),
        pytest.param(lambda path: path.symlink_to("gone.toml"), "it is a link to what is not there", marks=POSIX),
    ],
)
@pytest.mark.parametrize("command", ["report", "load"])
def test_what_is_in_the_place_of_the_settings_is_not_passed_over(
    desk: Desk, command: str, make: Callable[[Path], Any], said: str
) -> None:
    make(desk.folder / "unitcost.toml")
    result = desk.run(command)
    assert result.exit_code == 2
    assert f"unitcost.toml: {said}, and settings are a file. Mend: move it away" in result.stderr
    assert desk.run("init").exit_code == 2
    if not said.startswith("it is a link"):
        assert desk.run("init", "--force").exit_code == 2


def test_a_file_in_the_place_of_the_folder(desk: Desk) -> None:
    bill = desk.write("bill.csv", BILL)
    for command in ("report", "init", "demo"):
        result = Desk(bill).run(command)
        assert result.exit_code == 2
        assert "is no folder" in result.stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_sign_that_the_terminal_cannot_show_does_not_end_the_report(desk: Desk, encoding: str) -> None:
    desk.load(str(desk.write("bill.csv", text([row(0, ServiceName="計算")]))))
    command = [sys.executable, "-m", "unitcost", "report", "--section", "services", "--folder", str(desk.folder)]
    done = subprocess.run(command, capture_output=True, env=os.environ | {"PYTHONIOENCODING": encoding}, check=False)
    assert done.returncode == 0, done.stderr
    assert rb"\u8a08\u7b97" in done.stdout
    assert b"-----" in done.stdout


@pytest.mark.parametrize("command", ["report", "load"])
@pytest.mark.parametrize(
    ("store", "said"),
    [
        ("bill.csv", "bill.csv: it is a file of another kind, not a ledger"),
        ("sub", "sub: it is a folder, not a ledger"),
        pytest.param("pipe", "pipe: it is a pipe, not a ledger", marks=POSIX),
        ("bill.csv/ledger", "bill.csv: the ledger needs a folder of this name, and it is something else"),
    ],
)
def test_a_store_that_is_no_ledger_is_left_as_it_is(desk: Desk, command: str, store: str, said: str) -> None:
    bill = desk.write("bill.csv", BILL)
    desk.write("sub/other.csv", BILL)
    if store == "pipe":
        os.mkfifo(desk.folder / store)
    desk.write("unitcost.toml", f'[ledger]\nstore = "duckdb:///{store}"\n')
    result = desk.run(command, *([str(bill)] if command == "load" else []))
    assert result.exit_code == 1
    assert said in result.stderr
    assert bill.read_text(encoding="utf-8") == BILL


@POSIX
def test_a_store_by_the_name_of_a_service_is_a_file(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(desk.folder)
    here = Desk(Path())
    here.write("bill.csv", BILL)
    here.write("unitcost.toml", '[ledger]\nstore = "duckdb:///md:ledger"\n')
    here.load("bill.csv")
    assert (desk.folder / "md:ledger").is_file()
    here.write("unitcost.toml", '[ledger]\nstore = "duckdb:///:memory:"\n')
    assert here.run("load", "bill.csv").exit_code == 2


@POSIX
def test_a_name_does_not_steer_the_terminal(desk: Desk) -> None:
    for name in ("\x1b[31mred\n.csv", "in/\u202e.csv", "漢字 ü.csv"):
        desk.write(name, text([row(0, ResourceId=name)]))
    shown = {"\\u001b[31mred\\u000a.csv", "in/\\u202e.csv", "漢字 ü.csv"}
    assert {found["file"] for found in desk.load(str(desk.folder))["files"]} == shown
    for command in (("load", str(desk.folder)), ("init",), ("load",)):
        result = desk.run(*command)
        assert result.exit_code == 0
        assert "\x1b" not in result.output
        assert "\u202e" not in result.output

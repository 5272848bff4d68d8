"""The front of the command line: the table of commands, errors, exit codes, pipes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import unitcost
from unitcost import cli as front
from unitcost.errors import DoesNotClose, UnitcostError


@pytest.fixture
def with_command(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], CliRunner]:
    """Runner for a command line whose one command `try-me` does what is given."""

    def make(body: Callable[[], None]) -> CliRunner:
        class Module:
            command = click.Command("try-me", callback=body)

        monkeypatch.setitem(front.COMMANDS, "try-me", ("a.module", "Try."))
        monkeypatch.setattr(front, "import_module", lambda name: Module)
        return CliRunner()

    return make


@pytest.mark.parametrize("name", sorted(front.COMMANDS))
def test_each_command_of_the_table_exists(name: str) -> None:
    module, line = front.COMMANDS[name]
    command = import_module(module).command
    assert isinstance(command, click.Command)
    assert command.name == name
    assert line.endswith(".")
    assert command.help


def test_help_lists_the_table_in_order() -> None:
    text = CliRunner().invoke(front.cli, ["--help"]).output
    places = [text.index(f"\n  {name} ") for name in front.COMMANDS]
    assert places == sorted(places)


def test_an_unknown_command_is_answered_with_the_near_ones() -> None:
    result = CliRunner().invoke(front.cli, ["reprot"])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "did you mean `report`?" in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UnitcostError("the bill is torn", where="a.csv:3", mend="export it again"), 1),
        (DoesNotClose("they differ by 0.01", where="INV-1"), 3),
    ],
)
def test_an_error_is_one_message_on_standard_error(with_command, error: UnitcostError, code: int) -> None:
    def body() -> None:
        raise error

    result = with_command(body).invoke(front.cli, ["try-me"])
    assert result.exit_code == code
    assert result.stdout == ""
    assert result.stderr == f"{error}\n"


def test_debug_shows_the_traceback(with_command) -> None:
    def body() -> None:
        raise UnitcostError("the bill is torn")

    result = with_command(body).invoke(front.cli, ["--debug", "try-me"])
    assert result.exit_code == 1
    assert "Traceback" in result.stderr
    assert "test_front.py" in result.stderr


def test_an_interrupt_ends_with_130(with_command) -> None:
    def body() -> None:
        raise KeyboardInterrupt

    result = with_command(body).invoke(front.cli, ["try-me"])
    assert result.exit_code == 130
    assert "Traceback" not in result.output


def test_a_bug_is_not_hidden(with_command) -> None:
    def body() -> None:
        raise ZeroDivisionError

    assert isinstance(with_command(body).invoke(front.cli, ["try-me"]).exception, ZeroDivisionError)


CHATTY = """
import click, sys
from unitcost import cli as front
class Module:
    @click.command("try-me")
    def command():
        for _ in range(100000):
            click.echo("a long line that fills the pipe")
front.COMMANDS["try-me"] = ("a.module", "Try.")
front.import_module = lambda name: Module
sys.argv = ["unitcost", "try-me"]
front.main()
"""


@pytest.mark.skipif(os.name == "nt", reason="pipes close otherwise there")
def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", CHATTY], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
        process.wait(timeout=20)
    assert said == b""
    assert process.returncode == 141


def test_the_version_is_that_of_the_package() -> None:
    import tomllib

    pyproject = Path(__file__).resolve().parents[2] / "pyproject.toml"
    assert tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["version"] == unitcost.__version__
    assert CliRunner().invoke(front.cli, ["--version"]).stdout == f"unitcost {unitcost.__version__}\n"


@pytest.mark.parametrize("name", unitcost.__all__)
def test_each_public_name_can_be_had(name: str) -> None:
    assert getattr(unitcost, name) is not None
    assert name in dir(unitcost)


def test_an_unknown_public_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        unitcost.lode  # noqa: B018

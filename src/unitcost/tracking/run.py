"""One run, recorded while it runs."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any

from unitcost.tracking.devices import devices_in_use, devices_of, machine
from unitcost.tracking.identity import identity_of, in_step
from unitcost.tracking.journal import append, journal_of

#: A run that goes on says how far it is at most this often. [s]
_STEP_LINE_S = 60.0
#: Exceptions, by name, by which a sweeper ends a trial early.
_PRUNED = frozenset({"TrialPruned"})


def track(
    experiment: str = "",
    *,
    accepted: bool | None = None,
    run_id: str = "",
    folder: str | os.PathLike[str] | None = None,
    params: Mapping[str, Any] | None = None,
    tags: Mapping[str, Any] | None = None,
    **about: str,
) -> Run:
    """Record a run: `with unitcost.track(experiment="ctr") as run: ...`.

    A line is written at the start and one at the end, so that a run that is killed is known too. An exception passes
    through; it makes the run a failed one. When the file cannot be written, a warning is logged and the run goes on.

    Parameters
    ----------
    experiment
        What the run is part of.
    accepted
        Whether its result is accepted; may also be set on the run (`run.accepted = True`).
    run_id
        Same id for all attempts of a run that may be preempted, and for its ranks on several machines; by default the
        ranks that a launcher starts together are one run.
    folder
        Where the file of this machine is; by default `unitcost-runs`, or where UNITCOST_TRACK_FOLDER says.
    params
        What was configured, a seed included; runs of the same parameters are of the same configuration.
    tags
        Anything else that is worth knowing, such as `{"spot": True}`.
    about
        `name`, `kind` (training, trial, evaluation, preprocessing ...), `team`, `project`, `parent` (id of the sweep).

    Raises
    ------
    TypeError
        When `about` names anything else.
    """
    strange = about.keys() - {"name", "kind", "team", "project", "parent"}
    if strange:
        raise TypeError(f"track() knows no {', '.join(sorted(strange))}; put it into tags")
    texts = {
        key: {str(k): str(v) for k, v in (given or {}).items()} for key, given in (("params", params), ("tags", tags))
    }
    return Run({"experiment": experiment, **about, **texts}, accepted=accepted, run_id=run_id, folder=folder)


class Run:
    """A run that is recorded.

    Attributes
    ----------
    accepted
        Whether its result is accepted; None = nobody has said.
    metrics
        What came out of it; the last value of each counts.
    """

    def __init__(
        self, about: dict[str, Any], *, accepted: bool | None, run_id: str, folder: str | os.PathLike[str] | None
    ) -> None:
        self._about, self._run_id, self._host = about, run_id, machine()
        self._path = journal_of(self._host, folder)
        self._steps: dict[str, Any] = {}
        self._told_s = 0.0
        self.accepted = accepted
        self.metrics: dict[str, Any] = {}

    def __enter__(self) -> Run:
        environ = dict(os.environ)
        self._pid, self._began_s, self._began_at = os.getpid(), time.monotonic(), datetime.now(UTC)
        self._told_s = self._began_s
        who = identity_of(environ, host=self._host, given=self._run_id)
        self._who = {"run_id": who.run_id, "launch": who.launch, "process": os.urandom(6).hex()}
        self._devices = devices_of(environ, many_ranks=who.ranks > 1 and in_step(environ))
        self._write(
            "start", self._began_at, host=self._host, pid=self._pid, rank=who.rank, ranks=who.ranks,
            attempt=who.attempt, job=who.job, **self._held(), **self._about,
        )  # fmt: skip
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if os.getpid() != self._pid:
            return  # a fork of the process left the block; the run goes on in its parent
        if self._devices.ids is None:
            self._devices = devices_in_use(self._pid)
        self._write(
            "end", self._now(), status=_status(error), exception=kind.__name__ if kind else None,
            accepted=self.accepted, metrics=self.metrics, **self._held(), **self._steps,
        )  # fmt: skip

    def step(self, step: int, *, kept: bool = False) -> None:
        """Say how far the run is, counted from its very start: `step` steps are done.

        The first call ends the start-up, so call it with the step that the run begins from. Cheap enough for each step.

        Parameters
        ----------
        kept
            Whether this step has been saved in a checkpoint.
        """
        now_s = time.monotonic()
        if not self._steps:
            self._steps = {"start_step": step, "startup_s": round(now_s - self._began_s, 3)}
        self._steps["end_step"] = step
        if kept:
            self._steps["kept_step"] = step
        if (kept or now_s - self._told_s >= _STEP_LINE_S) and os.getpid() == self._pid:
            self._told_s = now_s
            self._write("step", self._now(), **self._steps)

    def _held(self) -> dict[str, Any]:
        found = self._devices
        ids = None if found.ids is None else list(found.ids)
        return {"accelerators": ids, "accelerators_by": found.said_by, "accelerator": found.model}

    def _now(self) -> datetime:
        """Moment by the clock that nobody sets."""
        return self._began_at + timedelta(seconds=time.monotonic() - self._began_s)

    def _write(self, event: str, at: datetime, **said: Any) -> None:
        try:
            append(self._path, {"event": event, **self._who, "at": at.isoformat(timespec="milliseconds"), **said})
        except (OSError, TypeError, ValueError) as error:  # the run matters more than its record
            import logging

            logging.getLogger("unitcost").warning(
                "the %s of the run is not recorded in %s: %s", event, self._path, error
            )


def _status(error: BaseException | None) -> str:
    if error is None or (isinstance(error, SystemExit) and error.code in (None, 0)):
        return "completed"
    if isinstance(error, KeyboardInterrupt):
        return "cancelled"
    return "pruned" if type(error).__name__ in _PRUNED else "failed"

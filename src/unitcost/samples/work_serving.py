"""Model servers of the sample in their cluster: pods and what they hold, and the counters of vLLM."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unitcost.samples.aws import instance_id
from unitcost.samples.calendar import Ints
from unitcost.samples.lines import daily_shape, draw
from unitcost.samples.work import TICKS_PER_DAY, Job, Life, Machine, end_of, moment
from unitcost.samples.world import World
from unitcost.units import HOURS_PER_DAY

#: Hours from one sample of a counter to the next.
_STEP_HOURS = 6
#: Day of the sample in whose afternoon the server of the assistant starts again, and its counters with it.
_RESTART_DAY = 50
#: Tokens of a prompt in a hundred tokens, and those of them that the prefix cache held.
_PROMPT_PERCENT, _HIT_PERCENT = 82, 46
_TOKENS_PER_REQUEST = 1_900


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A model server: its deployment, node, and tokens per day in millions; `model` is empty where it is not vLLM."""

    deployment: str
    node: str
    resource: str
    instance_type: str
    team: str
    project: str
    first_day: int = 0
    model: str = ""
    millions: tuple[int, int] = (0, 0)

    @property
    def pod(self) -> str:
        """Name of its one pod."""
        return f"{self.deployment}-7c9d5b8f64-x2k8q"


def servers(world: World) -> list[Server]:
    """Every model server that runs on a machine of the bills."""
    return [
        Server(deployment="assistant-llm", node="ip-10-50-0-11", resource=instance_id(world, "reserved"),
               instance_type="g5.2xlarge", team="support", project="assistant", model="assistant-8b", millions=(55, 85)),
        Server(deployment="summariser", node="ip-10-50-0-12", resource=instance_id(world, "summariser"),
               instance_type="g6e.xlarge", team="support", project="assistant", first_day=SUMMARISER_DAY, model="summariser-7b"),
        Server(deployment="embedder", node="embed-gpu", resource="//example/embed-gpu", instance_type="a2-highgpu-1g",
               team="search", project="embeddings"),
    ]  # fmt: skip


#: Day on which a server was put up that nobody has called since.
SUMMARISER_DAY = 10


def pods(world: World) -> tuple[tuple[Machine, ...], tuple[Job, ...]]:
    """Nodes of the cluster, and its pods as jobs that hold them all the time."""
    machines, found = [], []
    for server in servers(world):
        start = server.first_day * TICKS_PER_DAY
        machine = Machine(
            node=server.node, resource=server.resource, instance_type=server.instance_type, start=start, end=end_of(world)
        )  # fmt: skip
        machines.append(machine)
        found.append(
            Job(
                key=f"kubernetes:serving/{server.pod}", job_id="", name=server.pod, account="serving", run="", submitted=start,
                lives=(Life(machine=machine, start=start, end=end_of(world), state="RUNNING"),),
            )
        )  # fmt: skip
    return tuple(machines), tuple(found)


def cluster(world: World) -> Iterator[str]:
    """Answer of a metrics server about pods, once a day, then about the counters of the servers."""
    days = world.calendar.days()
    for server in servers(world):
        about = {"namespace": "serving", "pod": server.pod}
        owner = {"owner_kind": "ReplicaSet", "owner_name": server.pod.rpartition("-")[0]}
        asked = {"container": "server", "node": server.node, "resource": "nvidia_com_gpu", "unit": "integer"}
        up = days[days >= server.first_day * HOURS_PER_DAY]
        ones = np.ones_like(up)
        for name, more in (
            ("kube_pod_container_resource_requests", asked),
            ("kube_pod_status_phase", {"phase": "Running"}),
            ("kube_pod_owner", owner),
            ("kube_pod_labels", {"label_team": server.team, "label_project": server.project}),
        ):
            yield series(world, {"__name__": name, **about, **more}, up, ones)


def counters(world: World) -> Iterator[str]:
    """Series of vLLM's counters."""
    for server in servers(world):
        if server.model:
            labels = {"namespace": "serving", "pod": server.pod, "model_name": server.model}
            for (name, more), values in counted(world, server).items():
                hours = _sampled(world, server)
                yield series(world, {"__name__": name, **labels, **dict(more)}, hours, _with_restart(values))


def _sampled(world: World, server: Server) -> Ints:
    first = server.first_day * HOURS_PER_DAY
    return np.arange(min(first, world.calendar.hour_count), world.calendar.hour_count, _STEP_HOURS, dtype=np.int64)


Counter = tuple[str, tuple[tuple[str, str], ...]]  # metric, labels


def counted(world: World, server: Server) -> dict[Counter, Ints]:
    """What each counter counts until the next sample; the last counts nothing that anybody sees."""
    hours = _sampled(world, server)
    per_day = draw(world.bits("vllm", server.deployment), world.calendar.day_count, *server.millions) * 1_000_000
    every = daily_shape(world.calendar.hours(), per_day)
    starts = hours[hours < world.calendar.hour_count]
    tokens: Ints = np.array(np.add.reduceat(every, starts), dtype=np.int64)
    prompt = tokens * _PROMPT_PERCENT // 100
    requests = tokens // _TOKENS_PER_REQUEST
    aborted = requests // 40
    return {
        ("vllm:prompt_tokens_total", ()): prompt,
        ("vllm:generation_tokens_total", ()): tokens - prompt,
        ("vllm:prefix_cache_queries_total", ()): prompt,
        ("vllm:prefix_cache_hits_total", ()): prompt * _HIT_PERCENT // 100,
        ("vllm:request_success_total", (("finished_reason", "stop"),)): requests - aborted,
        ("vllm:request_success_total", (("finished_reason", "abort"),)): aborted,
    }


def restart_at(count: int) -> int:
    """Number of the sample before which the counters began again from zero; 0 where the sample ends before."""
    place = _RESTART_DAY * HOURS_PER_DAY // _STEP_HOURS + 2
    return place if place < count else 0


def _with_restart(steps: Ints) -> Ints:
    """Values of a counter at each sample. What was counted from the last sample before a restart is never seen."""
    values = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(steps)[:-1]])
    place = restart_at(len(steps))
    if place:
        values[place:] -= values[place]
    return values


def seen(steps: Ints) -> int:
    """What the counter shows to whoever adds up its steps: all but the last step and the one across the restart."""
    place = restart_at(len(steps))
    hidden = int(steps[place - 1]) if place else 0
    return int(steps[:-1].sum()) - hidden


def series(world: World, labels: dict[str, str], hours: Ints, values: Ints) -> str:
    """One series of an answer, as JSON."""
    origin = int(moment(world, 0).timestamp())
    times = (hours * 3600 + origin).tolist()
    points = ",".join(f'[{at},"{value}"]' for at, value in zip(times, values.tolist(), strict=True))
    return f'{{"metric":{json.dumps(labels, separators=(",", ":"))},"values":[{points}]}}'


def answer(found: Iterator[str]) -> Iterator[str]:
    """Whole answer of the HTTP API, on one line."""
    yield '{"status":"success","data":{"resultType":"matrix","result":[' + ",".join(found) + "]}}"

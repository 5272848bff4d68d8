"""What the buckets of the sample hold: checkpoints, feature tables, logs, embeddings, as an S3 inventory lists them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from unitcost.samples.aws_work import RUNS
from unitcost.samples.lines import draw
from unitcost.samples.work import TICKS_PER_DAY, end_of, moment
from unitcost.samples.world import World
from unitcost.units import GIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """A stored object; `changed` may lie before the sample. [ticks]."""

    bucket: str
    key: str
    kind: str
    size_bytes: int
    changed: int
    run: str = ""

    def kept(self, world: World) -> int:
        """How much was kept, and how long, within the sample. [byte-ticks]."""
        return self.size_bytes * max(0, end_of(world) - max(0, self.changed))


def things(world: World) -> list[Thing]:
    """Every object that the inventory lists, in the order of buckets and keys."""
    found = [*_old_checkpoints(world), *_checkpoints(world), *_tables(world), *_logs(world), *_embeddings(world)]
    return sorted(found, key=lambda thing: (thing.bucket, thing.key))


def _sizes(world: World, name: str, count: int, low_gib: int, high_gib: int) -> list[int]:
    return [size * GIB for size in draw(world.bits("stored", name), count, low_gib, high_gib).tolist()]


def _old_checkpoints(world: World) -> Iterator[Thing]:
    """Checkpoints of runs that nobody remembers."""
    for run in ("ranker-l6", "ranker-l8"):
        for step, size in enumerate(_sizes(world, run, 12, 2_800, 4_600), 1):
            key = f"runs/{run}/checkpoints/step-{step * 5_000}.ckpt"
            yield Thing(bucket="ml-checkpoints-2025", key=key, kind="checkpoint", size_bytes=size, run=run,
                        changed=(step - 400) * TICKS_PER_DAY)  # fmt: skip


def _checkpoints(world: World) -> Iterator[Thing]:
    """Checkpoints of the runs of the sample, in the bucket of the data that they were trained on."""
    for run, (_, nodes, first, days, _) in RUNS.items():
        for node in range(nodes):
            name = f"{run}-s{node}"
            for number, size in enumerate(_sizes(world, name, 2, 90, 260), 1):
                changed = (first + number * days // 2) * TICKS_PER_DAY
                if changed < end_of(world) and "sweep" not in run:
                    key = f"runs/{name}/checkpoints/step-{number * 20_000}.ckpt"
                    yield Thing(bucket="training-data", key=key, kind="checkpoint", size_bytes=size, run=name,
                                changed=changed)  # fmt: skip


def _tables(world: World) -> Iterator[Thing]:
    for number, size in enumerate(_sizes(world, "tables", 16, 300, 800)):
        key = f"feature-tables/transactions/part-{number:03d}.parquet"
        yield Thing(bucket="feature-store", key=key, kind="feature table", size_bytes=size,
                    changed=(number - 10) * 6 * TICKS_PER_DAY)  # fmt: skip
    for number, size in enumerate(_sizes(world, "corpus", 14, 2_000, 3_400)):
        key = f"datasets/corpus/shard-{number:03d}.tfrecord"
        yield Thing(bucket="training-data", key=key, kind="data set", size_bytes=size, changed=-90 * TICKS_PER_DAY)


def _logs(world: World) -> Iterator[Thing]:
    for number, size in enumerate(_sizes(world, "logs", 20, 500, 900)):
        key = f"logs/cluster/{number:03d}.log.gz"
        yield Thing(
            bucket="platform-logs", key=key, kind="log", size_bytes=size, changed=(number - 12) * 5 * TICKS_PER_DAY
        )


def _embeddings(world: World) -> Iterator[Thing]:
    for number, size in enumerate(_sizes(world, "embeddings", 6, 900, 1_500)):
        key = f"embeddings/documents-v{number + 1}.faiss"
        yield Thing(bucket="training-data", key=key, kind="embedding", size_bytes=size,
                    changed=(number - 3) * 14 * TICKS_PER_DAY)  # fmt: skip


def inventories(world: World) -> dict[str, list[str]]:
    """Bucket -> lines of its inventory, without a header as S3 writes it: bucket, key, size, last change, class."""
    found: dict[str, list[str]] = {}
    for thing in things(world):
        if thing.changed < end_of(world):
            changed = moment(world, thing.changed).strftime("%Y-%m-%dT%H:%M:%S.000Z")
            line = f'"{thing.bucket}","{thing.key}","{thing.size_bytes}","{changed}","STANDARD"'
            found.setdefault(thing.bucket, []).append(line)
    return found

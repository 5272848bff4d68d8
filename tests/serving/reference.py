"""One replica, iteration by iteration, in plain Python: what the kernel must agree with. Slow and obvious on purpose."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from unitcost.machine.steps import StepGrid, mixed_step_s
from unitcost.serving.fleet import Engine
from unitcost.serving.traces import Trace


@dataclass
class Request:
    at: float
    input: int
    output: int
    hashes: list[int]
    made: int = 0
    prefill: int = 0
    done: int = 0
    cached: int = -1
    first: float = -1.0
    last: float = -1.0
    scheduled: float = -1.0
    preemptions: int = 0

    @property
    def held(self) -> int:
        """Tokens in the KV cache once the prompt is computed."""
        return self.input + self.made - 1


@dataclass
class Replica:
    grid: StepGrid
    engine: Engine
    hash_tokens: int
    users: dict[int, int] = field(default_factory=dict)
    idle: OrderedDict[int, None] = field(default_factory=OrderedDict)
    waiting: list[Request] = field(default_factory=list)
    running: list[Request] = field(default_factory=list)
    evictions: int = 0
    #: Whether the blocks of the next token of those that decode are taken already.
    ahead: bool = False

    def blocks(self, tokens: int) -> int:
        return -(-tokens // self.engine.block_tokens)

    @property
    def wide(self) -> int:
        return max(1, self.hash_tokens // self.engine.block_tokens)

    def full(self, q: Request) -> list[int]:
        return q.hashes[: q.input // self.hash_tokens] if self.hash_tokens else []

    def free(self) -> int:
        held = sum(
            self.blocks(max(q.prefill, q.held + (self.ahead and q.done == q.prefill))) - len(self.full(q)) * self.wide
            for q in self.running
        )
        total = self.grid.kv_tokens_per_replica // self.engine.block_tokens
        return total - held - (len(self.users) + len(self.idle)) * self.wide

    def make_free(self, blocks: int) -> None:
        while self.free() < blocks:
            self.idle.popitem(last=False)
            self.evictions += 1

    def admit(self, q: Request) -> bool:
        q.prefill = q.input + q.made
        keys = self.full(q)
        found = 0
        while found < len(keys) and (keys[found] in self.users or keys[found] in self.idle):
            found += 1
        need = self.blocks(q.prefill) - found * self.wide
        spare = sum(key not in keys[:found] for key in self.idle)
        if self.free() + spare * self.wide < need:
            return False
        for key in keys[:found]:
            self.idle.pop(key, None)
            self.users[key] = self.users.get(key, 0) + 1
        self.make_free(need)
        for key in keys[found:]:
            self.users[key] = 1
        q.done = min(found * self.hash_tokens, q.prefill - 1)
        q.cached = q.done if q.cached < 0 else q.cached
        return True

    def leave(self, q: Request) -> None:
        self.running.remove(q)
        for key in reversed(self.full(q)):
            self.users[key] -= 1
            if self.users[key] == 0:
                del self.users[key]
                self.idle[key] = None

    def decoding(self) -> list[Request]:
        return [q for q in self.running if q.made and q.done == q.prefill]

    def room_for_decode(self) -> bool:
        """Put requests back until each decoding one can have a token more; True when some were."""
        put_back = False
        self.ahead = True
        while self.decoding():
            if self.free() + len(self.idle) * self.wide >= 0:
                self.make_free(0)
                return put_back
            q = self.running[-1]
            self.leave(q)
            q.preemptions += 1
            q.done = -1
            self.waiting.insert(0, q)
            put_back = True
        return put_back

    def fill(self, budget: int, now: float) -> list[tuple[Request, int]]:
        whole = self.engine.scheduler == "whole prompt"
        begun = [q for q in self.running if q.done < q.prefill and budget > 0]
        chunks = [(q, min(budget, q.prefill - q.done)) for q in begun]
        left = budget - sum(size for _, size in chunks)
        partial = any(q.done + size < q.prefill for q, size in chunks) or (
            not chunks and any(q.done < q.prefill for q in self.running)
        )
        while self.waiting and left > 0 and not partial and len(self.running) < (self.engine.max_batch or 10**9):
            q = self.waiting[0]
            if whole and chunks and q.input + q.made > left:
                break
            if not self.admit(q):
                break
            self.waiting.pop(0)
            self.running.append(q)
            q.scheduled = now if q.scheduled < 0 else q.scheduled
            size = q.prefill - q.done if whole else min(left, q.prefill - q.done)
            chunks.append((q, size))
            left -= size
            partial = size < q.prefill - q.done
        return chunks


def play(trace: Trace, grid: StepGrid, engine: Engine) -> tuple[list[Request], int, int]:
    """Requests with their times, iterations and evictions of one replica."""
    replica = Replica(grid, engine, trace.hash_tokens if engine.prefix_caching else 0)
    requests = [
        Request(
            float(trace.arrival_s[i]), int(trace.input_tokens[i]), int(trace.output_tokens[i]),
            list(trace.hashes[trace.hash_from[i] : trace.hash_from[i + 1]]) if trace.hash_tokens else [],
        )
        for i in range(len(trace))
    ]  # fmt: skip
    coming, now, iterations = list(requests), 0.0, 0
    while coming or replica.waiting or replica.running:
        if not replica.waiting and not replica.running:
            now = max(now, coming[0].at)
        while coming and coming[0].at <= now + 1e-9:
            replica.waiting.append(coming.pop(0))
        now = _step(replica, now)
        iterations += 1
    return requests, iterations, replica.evictions


def _step(replica: Replica, now: float) -> float:
    budget = replica.engine.max_step_tokens
    if replica.engine.scheduler == "decode first":
        put_back = replica.room_for_decode()
        chunks = [] if put_back else replica.fill(budget - len(replica.decoding()), now)
        decoding = [q for q in replica.decoding() if q not in [c for c, _ in chunks]]
    else:
        replica.ahead = False
        chunks = replica.fill(budget, now)
        if not chunks:
            replica.room_for_decode()
        decoding = [] if chunks else replica.decoding()
    mean = sum(q.held for q in decoding) / len(decoding) if decoding else 0.0
    replica.ahead = False
    now += mixed_step_s(replica.grid, tuple((size, q.done) for q, size in chunks), len(decoding), mean)
    for q, size in chunks:
        q.done += size
    for q in [*decoding, *(q for q, _ in chunks if q.done == q.prefill)]:
        q.made += 1
        q.first = now if q.first < 0 else q.first
        q.last = now
    for q in [q for q in replica.running if q.made == q.output]:
        replica.leave(q)
    return now

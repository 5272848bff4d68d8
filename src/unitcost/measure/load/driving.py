"""Sending requests: when they are due (open loop), or one after the other (closed loop).

Latency counts from the moment a request was due. A closed loop that waits for a frozen server sends nothing meanwhile, so it
sees one slow request where users would have seen hundreds.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from unitcost.facts.loads import Reply, Sample

#: Sends the n-th request and says what came of it; moments are those of the loop's clock.
Send = Callable[[int], Awaitable[Reply]]
#: Requests on their way at most; a server that is that far behind will not catch up.
MOST_UNANSWERED = 4_000


async def open_loop(
    due_s: Sequence[float], send: Send, *, timeout_s: float, most_unanswered: int = MOST_UNANSWERED
) -> list[Sample]:
    """Send each request when it is due, answered or not, and wait until all are over.

    Parameters
    ----------
    due_s
        Rising moments since the beginning. [s]
    timeout_s
        Patience with one request, from when it was due. [s]
    most_unanswered
        Where to stop: what is due later is not sent, and counts as not answered.

    Notes
    -----
    Ends by itself: at the latest `timeout_s` after the last request. When it is cancelled it gives what is over by then,
    and `is_stopped` says so.
    """
    loop = asyncio.get_running_loop()
    begun = loop.time()
    running: set[asyncio.Task[None]] = set()
    samples: list[Sample] = []
    with _quiet(), suppress(asyncio.CancelledError):
        try:
            for number, due in enumerate(due_s):
                await asyncio.sleep(max(0.0, begun + due - loop.time()))
                if len(running) >= most_unanswered:
                    samples += [_unsent(later, timeout_s, most_unanswered) for later in due_s[number:]]
                    break
                task = asyncio.create_task(_one(number, due, begun, send, timeout_s, samples))
                running.add(task)
                task.add_done_callback(running.discard)
            await asyncio.gather(*running)
        finally:
            for task in running:
                task.cancel()
    return sorted(samples, key=lambda sample: sample.due_s)


def is_stopped() -> bool:
    """Whether the task that runs now was asked to stop, as by Ctrl-C."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _unsent(due_s: float, timeout_s: float, unanswered: int) -> Sample:
    why = f"not sent: {unanswered:,} requests were unanswered"
    return Sample(due_s=due_s, sent_s=due_s, ended_s=due_s + timeout_s, fate="unsent", why=why)


async def closed_loop(workers: int, send: Send, *, duration_s: float, timeout_s: float) -> list[Sample]:
    """Each of some workers sends its next request when the last one is over. Latency counts from sending."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    samples: list[Sample] = []

    async def work(first: int) -> None:
        number = first
        while loop.time() - begun < duration_s:
            await _one(number, loop.time() - begun, begun, send, timeout_s, samples)
            number += workers

    with _quiet(), suppress(asyncio.CancelledError):
        await asyncio.gather(*(work(first) for first in range(workers)))
    return sorted(samples, key=lambda sample: sample.due_s)


async def _one(
    number: int, due: float, begun: float, send: Send, timeout_s: float, samples: list[Sample]
) -> None:  # fmt: skip
    loop = asyncio.get_running_loop()
    sent = loop.time() - begun
    try:
        async with asyncio.timeout_at(max(loop.time(), begun + due + timeout_s)):
            reply = await send(number)
    except TimeoutError:
        reply = Reply(fate="timeout", why=f"no whole answer within {timeout_s:g} s")
    samples.append(
        Sample(
            due_s=due, sent_s=sent, ended_s=loop.time() - begun, fate=reply.fate, tokens=reply.tokens, why=reply.why,
            first_s=None if reply.first_s is None else reply.first_s - begun,
            last_s=None if reply.last_s is None else reply.last_s - begun,
        )
    )  # fmt: skip


@contextmanager
def _quiet() -> Iterator[None]:
    """No garbage collection while time counts: a full one takes tens of milliseconds."""
    was_on = gc.isenabled()
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if was_on:
            gc.enable()

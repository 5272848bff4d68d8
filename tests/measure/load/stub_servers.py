"""Servers to measure: plain, OpenAI with streaming, KServe v2; sound ones and such that freeze, fail, hang or break off."""

from __future__ import annotations

import asyncio
import json
import queue
import threading
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from aiohttp import web


@dataclass
class Truth:
    """What a server did itself, by its own clock. [s]."""

    first_s: list[float] = field(default_factory=list)
    between_s: list[float] = field(default_factory=list)
    answered: int = 0


@asynccontextmanager
async def serving(handler: Callable[[web.Request], Awaitable[web.StreamResponse]], *, metadata: dict | None = None):
    """Address of a server on this machine."""
    app = web.Application()
    app.router.add_post("/{path:.*}", handler)
    app.router.add_get("/{path:.*}", handler if metadata is None else _answering(metadata))
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        await runner.cleanup()


def _answering(data: dict):
    async def handle(_: web.Request) -> web.Response:
        return web.json_response(data)

    return handle


def openai(truth: Truth, *, first_s: float, between_s: float, tokens: int, break_after: int | None = None):
    """Handler that streams tokens; it breaks off after some where that is asked for."""

    async def handle(request: web.Request) -> web.StreamResponse:
        clock = asyncio.get_running_loop().time
        asked = json.loads(await request.read())
        assert asked["stream"] is True
        begun = clock()
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        written = []
        for number in range(tokens):
            due = begun + first_s + number * between_s
            await asyncio.sleep(max(0.0, due - clock()))
            if number == break_after:
                request.transport.close()
                return response
            await response.write(_event({"choices": [{"delta": {"content": f"t{number} "}}]}))
            written.append(clock())
        await response.write(_event({"choices": [], "usage": {"completion_tokens": tokens}}))
        await response.write(b"data: [DONE]\n\n")
        truth.first_s.append(written[0] - begun)
        truth.between_s.append((written[-1] - written[0]) / (tokens - 1))
        truth.answered += 1
        return response

    return handle


def kserve(truth: Truth, *, service_s: float):
    """Handler of KServe's second protocol."""

    async def handle(request: web.Request) -> web.Response:
        asked = json.loads(await request.read())
        shape = asked["inputs"][0]["shape"]
        await asyncio.sleep(service_s)
        truth.answered += 1
        return web.json_response(
            {"outputs": [{"name": "y", "datatype": "FP32", "shape": [shape[0]], "data": [0.5] * shape[0]}]}
        )

    return handle


def failing(status: int = 500):
    """Handler that refuses."""

    async def handle(_: web.Request) -> web.Response:
        return web.Response(status=status, text="out of memory")

    return handle


async def hanging(_: web.Request) -> web.Response:
    """Handler that never answers."""
    await asyncio.sleep(3600)
    return web.Response()


def _event(data: dict) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


@contextmanager
def running(handler: Callable[[web.Request], Awaitable[web.StreamResponse]], *, metadata: dict | None = None):
    """Address of a server in a thread of its own, for commands that run to their end."""
    ready: queue.Queue[tuple[str, Callable[[], object]]] = queue.Queue()

    async def main() -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        async with serving(handler, metadata=metadata) as base:
            ready.put((base, lambda: loop.call_soon_threadsafe(stop.set)))
            await stop.wait()

    thread = threading.Thread(target=asyncio.run, args=(main(),))
    thread.start()
    base, stop = ready.get(timeout=30)
    try:
        yield base
    finally:
        stop()
        thread.join()

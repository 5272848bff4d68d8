"""The load generator against servers whose truth is known.

    python benchmarks/endpoint.py [--duration S] [--streams N] [--json]

Each server is a process of its own. Three parts:

freeze
    One worker, 3 ms a request, stands still for 2 s; 200 requests a second. The exact p99 over 20 s is 1.92 s: the k-th request after
    the freeze began waits 2 s less 2 ms for each before it. The closed loop stands beside it.
own delay
    1,000 requests a second to a server that answers at once: how late the generator itself is (p99).
stream
    An OpenAI-compatible stream, 300 ms to the first token and 20 ms between tokens: time to the first token and per token beside what the
    server did by its own clock.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import ClientSession, web

from unitcost.economics.quality.loads import summary
from unitcost.measure.load.arrivals import steady
from unitcost.measure.load.driving import closed_loop, open_loop
from unitcost.measure.load.kinds import Client, target

SERVICE_S, FREEZE_S, RATE_PER_S = 0.003, 2.0, 200
FIRST_S, BETWEEN_S, TOKENS = 0.3, 0.02, 30
MILLI = 1000


class Server:
    """One worker behind `/work`, an answer at once behind `/at-once`, a stream behind `/v1/chat/completions`."""

    def __init__(self) -> None:
        self.free_s = 0.0
        self.frozen = (0.0, 0.0)
        self.first_s: list[float] = []
        self.between_s: list[float] = []

    async def work(self, request: web.Request) -> web.Response:
        """Take a place in the queue of the one worker, and wait until it is done."""
        now = asyncio.get_running_loop().time()
        begin = max(now, self.free_s)
        if self.frozen[0] <= begin < self.frozen[1]:
            begin = self.frozen[1]
        self.free_s = begin + SERVICE_S
        await asyncio.sleep(self.free_s - now)
        return web.Response()

    async def freeze(self, request: web.Request) -> web.Response:
        """Stand still for 2 s from a time after now."""
        at = asyncio.get_running_loop().time() + float(request.query["after"])
        self.frozen = (at, at + FREEZE_S)
        return web.Response()

    async def at_once(self, request: web.Request) -> web.Response:
        """Answer."""
        return web.Response()

    async def stream(self, request: web.Request) -> web.StreamResponse:
        """Write tokens at their times."""
        clock = asyncio.get_running_loop().time
        begun = clock()
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        written = []
        for number in range(TOKENS):
            await asyncio.sleep(max(0.0, begun + FIRST_S + number * BETWEEN_S - clock()))
            await response.write(b'data: {"choices": [{"delta": {"content": "a "}}]}\n\n')
            written.append(clock())
        await response.write(b"data: [DONE]\n\n")
        self.first_s.append(written[0] - begun)
        self.between_s.append((written[-1] - written[0]) / (TOKENS - 1))
        return response

    async def truth(self, request: web.Request) -> web.Response:
        """What the streams did."""
        return web.json_response({"first_s": sorted(self.first_s), "between_s": sorted(self.between_s)})


def serve(port: Any) -> None:
    """Run a server in this process."""

    async def run() -> None:
        server, app = Server(), web.Application()
        app.router.add_get("/work", server.work)
        app.router.add_get("/freeze", server.freeze)
        app.router.add_get("/at-once", server.at_once)
        app.router.add_post("/v1/chat/completions", server.stream)
        app.router.add_get("/truth", server.truth)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port.put(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(run())


@contextmanager
def server() -> Iterator[str]:
    """Address of a server in a process of its own."""
    port: Any = multiprocessing.Queue()
    process = multiprocessing.Process(target=serve, args=(port,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{port.get(timeout=30)}"
    finally:
        process.terminate()
        process.join()


async def fetch(url: str) -> Any:
    """JSON or text of an address."""
    async with ClientSession() as session, session.get(url) as response:
        return await response.json() if response.content_type == "application/json" else await response.text()


async def freeze(base: str, duration_s: float) -> dict[str, float]:
    """Open and closed loop against a server that freezes a quarter into the run."""
    async with Client(target(f"{base}/work", "http", [])) as client:
        await fetch(f"{base}/freeze?after={duration_s / 4}")
        opened = summary(await open_loop(steady(RATE_PER_S, duration_s), client.send, timeout_s=30))
        await fetch(f"{base}/freeze?after={duration_s / 4}")
        closed = summary(await closed_loop(1, client.send, duration_s=duration_s, timeout_s=30))
    # of n requests n/100 are slower than p99; each is 2 ms faster than the one before
    exact = FREEZE_S - (1 / RATE_PER_S - SERVICE_S) * RATE_PER_S * duration_s / 100
    found, other = dict(opened.tails)["p99"].latency_s, dict(closed.tails)["p99"].latency_s
    return {"exact_p99_s": exact, "open_p99_s": found, "off": found / exact - 1, "closed_p99_s": other}


async def own_delay(base: str, duration_s: float) -> dict[str, float]:
    """How late the generator is at 1,000 requests a second."""
    async with Client(target(f"{base}/at-once", "http", [])) as client:
        found = summary(await open_loop(steady(1000, duration_s), client.send, timeout_s=10), warm_up_s=1.0)
    return {"rate_per_s": found.rate_per_s, "own_delay_p99_s": found.own_delay_p99_s, "error_share": found.error_share}


async def stream(base: str, streams: int) -> dict[str, float]:
    """Time to the first token and per token, ours over the server's (medians)."""
    async with Client(target(f"{base}/v1/chat/completions", "openai", [], model="m")) as client:
        found = summary(await open_loop(steady(10, streams / 10), client.send, timeout_s=30))
    truth = await fetch(f"{base}/truth")
    first, between = (dict(tails)["p50"].latency_s for tails in (found.first_token, found.between_tokens))
    middle = len(truth["first_s"]) // 2
    return {
        "first_s": first, "true_first_s": truth["first_s"][middle], "first_off": first / truth["first_s"][middle] - 1,
        "between_s": between, "true_between_s": truth["between_s"][middle], "between_off": between / truth["between_s"][middle] - 1,
    }  # fmt: skip


def main() -> None:
    """Print the three parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--duration", type=float, default=20.0, help="length of the run with the freeze [s]")
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with server() as base:
        found = {
            "freeze": asyncio.run(freeze(base, arguments.duration)),
            "own_delay": asyncio.run(own_delay(base, max(3.0, arguments.duration / 2))),
            "stream": asyncio.run(stream(base, arguments.streams)),
        }
    if arguments.json:
        print(json.dumps(found))
        return
    one, two, three = found["freeze"], found["own_delay"], found["stream"]
    print(f"freeze: p99 {one['open_p99_s']:.3f} s, exact {one['exact_p99_s']:.3f} s ({one['off']:+.1%})")
    print(f"freeze, closed loop: p99 {one['closed_p99_s']:.4f} s")
    late = f"p99 {two['own_delay_p99_s'] * MILLI:.2f} ms"
    print(f"own delay at {two['rate_per_s']:.0f}/s: {late}, errors {two['error_share']:.1%}")
    print(f"first token: {three['first_s']:.4f} s, server {three['true_first_s']:.4f} s ({three['first_off']:+.1%})")
    print(
        f"per token: {three['between_s']:.5f} s, server {three['true_between_s']:.5f} s ({three['between_off']:+.1%})"
    )


if __name__ == "__main__":
    main()

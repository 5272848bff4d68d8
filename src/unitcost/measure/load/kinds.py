"""How requests of each kind of endpoint are written, and how their answers are read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from unitcost.errors import BadFile, MissingLibrary, UnitcostError, UnknownName
from unitcost.facts.loads import Reply
from unitcost.measure.reasons import cut
from unitcost.units import MIB

if TYPE_CHECKING:
    import aiohttp

KINDS = ("http", "openai", "kserve-v2")
_DONE = "[DONE]"
#: Why an answer that is no answer is shown, at most.
_SHOWN = 160
_REDIRECTED, _FAILED = 300, 400
#: Most of an answer that is kept; more is no answer of a model.
_MOST_BYTES = 64 * MIB
#: Patience with a model's metadata. [s]
_METADATA_S = 30.0
_ASKED = {"name", "shape", "datatype"}
_NUMBERS = {"FP64": 0.0, "FP32": 0.0, "FP16": 0.0, "BF16": 0.0, "BOOL": False, "BYTES": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An endpoint and what is sent to it.

    Parameters
    ----------
    bodies
        Bodies, sent in turn; empty = GET.
    """

    url: str
    kind: str
    bodies: tuple[bytes, ...]
    headers: tuple[tuple[str, str], ...] = ()


def read_bodies(path: Path | None) -> list[Any]:
    """Bodies of requests: one JSON document, or one per line.

    Raises
    ------
    BadFile
        When the file holds no JSON.
    """
    if path is None:
        return []
    text = path.read_text(encoding="utf-8").strip()
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except json.JSONDecodeError as error:
        raise BadFile(
            f"is not JSON: {error}", where=str(path), mend="write one JSON document, or one per line"
        ) from error


def target(
    url: str, kind: str, bodies: Sequence[Any], *, model: str = "", headers: Mapping[str, str] | None = None
) -> Target:
    """What to send to an endpoint.

    Raises
    ------
    UnknownName
        When there is no such kind.
    UnitcostError
        When the address is none, or OpenAI's form has no body and no model.
    """
    if kind not in KINDS:
        raise UnknownName("kind of endpoint", kind, KINDS)
    if urlsplit(url).scheme not in ("http", "https"):
        raise UnitcostError("is no address of an endpoint", where=url, mend="write http://HOST:PORT/PATH")
    if kind == "openai":
        bodies = [_streamed(body) for body in bodies or [_question(model, url)]]
    encoded = tuple(json.dumps(body).encode() for body in bodies)
    named = {"content-type": "application/json"} if encoded else {}
    return Target(url=url, kind=kind, bodies=encoded, headers=tuple((named | dict(headers or {})).items()))


def _streamed(body: Any) -> Any:
    return {**body, "stream": True, "stream_options": {"include_usage": True}}


def _question(model: str, url: str) -> dict[str, Any]:
    if not model:
        raise UnitcostError(
            "a model is needed", where=url, mend="name it with --model, or give whole bodies with --body"
        )
    text = "Explain in about one hundred words why the sky is blue."
    return {"model": model, "messages": [{"role": "user", "content": text}], "max_tokens": 128, "temperature": 0}


def kserve_body(metadata: Mapping[str, Any], batch: int) -> dict[str, Any]:
    """Body of zeros in the shape that a model's metadata asks for; free dimensions are one, the first is the batch."""
    inputs = []
    for wanted in metadata["inputs"]:
        shape = [size if size > 0 else (batch if place == 0 else 1) for place, size in enumerate(wanted["shape"])]
        count = 1
        for size in shape:
            count *= size
        data = [_NUMBERS.get(wanted["datatype"], 0)] * count
        inputs.append({"name": wanted["name"], "shape": shape, "datatype": wanted["datatype"], "data": data})
    return {"inputs": inputs}


class Client:
    """Sends requests to one target over connections that stay open; use as an asynchronous context."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Client:
        try:
            import aiohttp
        except ImportError:
            raise MissingLibrary("aiohttp", "measure", "sending load") from None
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=None),
            headers=dict(self.target.headers), trust_env=False,
            cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=self.target.kind != "http",
        )  # fmt: skip
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def send(self, number: int) -> Reply:
        """Send the n-th request; what goes wrong is the fate of the reply, never an exception."""
        import aiohttp

        assert self._session is not None
        bodies = self.target.bodies
        body = bodies[number % len(bodies)] if bodies else None
        begun = False
        try:
            async with self._session.request(
                "POST" if body else "GET", self.target.url, data=body, allow_redirects=False
            ) as response:
                if response.status >= _REDIRECTED:
                    return Reply(fate="refused", why=await _refusal(response))
                begun = True
                return await _READERS[self.target.kind](response)
        except aiohttp.ClientPayloadError as error:
            return Reply(fate="cut", why=_short(f"the answer broke off: {error}"))
        except (aiohttp.ClientError, OSError) as error:
            return Reply(fate="cut" if begun else "failed", why=_short(str(error) or type(error).__name__))
        except (AttributeError, TypeError, ValueError):  # JSON whose parts are something else
            return Reply(fate="refused", why=f"a part of the answer is not of the form of {self.target.kind}")

    async def metadata(self) -> Mapping[str, Any]:
        """Metadata of a model of KServe: what its address says without `/infer`."""
        assert self._session is not None
        import aiohttp

        url, mend = self.target.url.removesuffix("/infer"), "check the address, or give a body with --body"
        try:
            async with asyncio.timeout(_METADATA_S), self._session.get(url) as response:
                found = json.loads(await _some(response, _MOST_BYTES))
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            why = _short(str(error) or type(error).__name__)
            raise UnitcostError(f"the model's metadata could not be asked for: {why}", where=url, mend=mend) from error
        except ValueError as error:
            raise UnitcostError("the model's metadata is not JSON", where=url, mend=mend) from error
        inputs = found.get("inputs") if isinstance(found, dict) else None
        if not isinstance(inputs, list) or not all(isinstance(each, dict) and each.keys() >= _ASKED for each in inputs):
            raise UnitcostError("says no inputs with name, shape and datatype", where=url, mend=mend)
        return dict(found)


async def _refusal(response: aiohttp.ClientResponse) -> str:
    """What a server says that does not answer; where it leads to elsewhere, load is not sent on."""
    if response.status < _FAILED:
        return _short(f"HTTP {response.status}, which leads to {response.headers.get('location', 'nothing')}")
    text = (await _some(response, _SHOWN * 4)).decode("utf-8", "replace")
    return _short(f"HTTP {response.status} {text}")


async def _some(response: aiohttp.ClientResponse, most_bytes: int) -> bytes:
    """Beginning of an answer; the rest is not read."""
    parts, size_bytes = [], 0
    async for part in response.content.iter_any():
        parts.append(part)
        size_bytes += len(part)
        if size_bytes >= most_bytes:
            break
    return b"".join(parts)[:most_bytes]


def _short(text: str) -> str:
    return cut(" ".join(text.split()), _SHOWN)


async def _read_http(response: aiohttp.ClientResponse) -> Reply:
    async for _ in response.content.iter_any():  # not kept: an answer may be larger than the memory
        pass
    return Reply()


async def _read_kserve(response: aiohttp.ClientResponse) -> Reply:
    body = await _some(response, _MOST_BYTES)
    try:
        found = json.loads(body)
    except ValueError:
        is_large = len(body) == _MOST_BYTES
        why = f"the answer is larger than {_MOST_BYTES // MIB} MiB" if is_large else "the answer is not JSON"
        return Reply(fate="refused", why=why)
    outputs = found.get("outputs") if isinstance(found, dict) else None
    return Reply() if outputs else Reply(fate="refused", why="the answer has no outputs")


async def _read_openai(response: aiohttp.ClientResponse) -> Reply:
    """Tokens of a stream: one per part with text, unless the server counts them itself."""
    clock = asyncio.get_running_loop().time
    first = last = None
    parts = counted = 0
    is_whole = False
    async for data in _events(response):
        if data == _DONE:
            is_whole = True
            break
        try:
            event = json.loads(data)
        except json.JSONDecodeError:
            return Reply(fate="refused", why=_short(f"a part of the stream is not JSON: {data}"))
        if event.get("error"):  # some servers write null beside each part
            return Reply(fate="refused", why=_short(str(event["error"])), first_s=first, last_s=last, tokens=parts)
        if _has_text(event):
            last = clock()
            first = first if first is not None else last
            parts += 1
        counted = int((event.get("usage") or {}).get("completion_tokens") or counted)
    tokens = counted or parts
    last = last if parts > 1 else None  # one part says nothing of the time between tokens
    if not is_whole:
        return Reply(fate="cut", why="the stream ended before [DONE]", first_s=first, last_s=last, tokens=tokens)
    return Reply(first_s=first, last_s=last, tokens=tokens)


async def _events(response: aiohttp.ClientResponse) -> AsyncIterator[str]:
    """Data of server-sent events, one line each."""
    async for line in response.content:
        name, _, data = line.decode("utf-8", "replace").partition(":")
        if name == "data":
            yield data.strip()


def _has_text(event: Mapping[str, Any]) -> bool:
    for choice in event.get("choices") or ():
        delta = choice.get("delta") or {}
        if delta.get("content") or delta.get("reasoning_content") or delta.get("reasoning") or choice.get("text"):
            return True
    return False


_READERS = {"http": _read_http, "openai": _read_openai, "kserve-v2": _read_kserve}

"""Headless Chromium driven over a pipe: no port is opened and no further package is needed."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--remote-debugging-pipe",
)  # fmt: skip
#: The first file descriptor that a shell does not use itself.
_FREE_FD = 10


@dataclass(kw_only=True)
class Browser:
    """One tab. `requests` and `complaints` are of the page that was shown last."""

    into: BinaryIO
    out: BinaryIO
    session: str = ""
    number: int = 0
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    loaded: bool = False

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its answer; what happens meanwhile is noted."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.into.write(json.dumps(message).encode() + b"\0")
        self.into.flush()
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer["error"])
                return dict(answer["result"])

    def show(self, page: Path, *, width: int, dark: bool = False, script: bool = True) -> None:
        """Open a page in a window of this width [pixels] and wait until it has loaded."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask("Emulation.setScriptExecutionDisabled", value=not script)
        self.requests.clear()
        self.complaints.clear()
        self.loaded = False
        self.ask("Page.navigate", url=page.as_uri())
        while not self.loaded:
            self._next()
        if script:
            self.settle()

    def settle(self) -> None:
        """Wait until two frames are drawn: what was changed before is laid out then."""
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def value(self, expression: str) -> Any:
        """Value of an expression in the page."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def _next(self) -> dict[str, Any]:
        text = bytearray()
        while not text.endswith(b"\0"):
            sign = self.out.read(1)
            assert sign, "the browser has gone"
            text += sign
        message: dict[str, Any] = json.loads(text[:-1])
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, event: str, told: dict[str, Any]) -> None:
        if event == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif event == "Runtime.exceptionThrown":
            self.complaints.append(str(told["exceptionDetails"]))
        elif event == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(told["args"]))
        elif event == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.complaints.append(str(told["entry"]))
        elif event == "Page.loadEventFired":
            self.loaded = True


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A browser with an empty profile; it ends with the block."""
    (from_us, to_it), (from_it, to_us) = os.pipe(), os.pipe()
    theirs = [fcntl.fcntl(end, fcntl.F_DUPFD, _FREE_FD) for end in (from_us, to_us)]
    os.close(from_us)
    os.close(to_us)
    process = subprocess.Popen(
        ["bash", "-c", f'exec "$@" 3<&{theirs[0]} 4>&{theirs[1]}', "bash", CHROMIUM, *_FLAGS, f"--user-data-dir={profile}"],
        pass_fds=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    for end in theirs:
        os.close(end)
    with os.fdopen(to_it, "wb") as into, os.fdopen(from_it, "rb") as out:
        tab = Browser(into=into, out=out)
        try:
            target = tab.ask("Target.createTarget", url="about:blank")["targetId"]
            tab.session = tab.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Network", "Runtime", "Log"):
                tab.ask(f"{domain}.enable")
            yield tab
        finally:
            process.terminate()
            process.wait(timeout=30)

# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Headless Chromium for tests of pages, over its debugging pipe: JSON, each message ended by a zero byte."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
_PATIENCE_S = 120.0


def find_browser() -> str | None:
    """The first of `NAMES` that is installed."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class BrowserError(Exception):
    """The browser did not do what it was told to; the message says what."""


class Browser:
    """A browser with one page. What the page complains of, and what it fetches, is collected."""

    def __init__(self, program: str, folder: Path) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._number = 0
        self._unread = b""
        self._events: list[dict[str, Any]] = []
        command, self._write = os.pipe()
        self._read, answer = os.pipe()
        argv = [program, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        argv += ["--disable-dev-shm-usage", "--disable-background-networking", f"--user-data-dir={folder}"]
        # It reads commands from descriptor 3 and answers on 4. With both above these, none overwrites the other.
        command, answer = _moved(command), _moved(answer)
        silent = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
        pipes = [(os.POSIX_SPAWN_DUP2, command, 3), (os.POSIX_SPAWN_DUP2, answer, 4)]
        self._process = os.posix_spawn(program, argv, os.environ, file_actions=[*silent, *pipes])
        os.close(command)
        os.close(answer)
        target = self._ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = self._ask("Target.attachToTarget", {"targetId": target, "flatten": True})
        self._session: str | None = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self._ask(f"{domain}.enable")

    def open(self, path: Path, width: int, dark: bool = False, medium: str = "") -> None:
        """Loads a file at that width, and waits until it is all there."""
        self.complaints.clear()
        self.requests.clear()
        self._events.clear()
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 640}
        self._ask("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", {"features": [scheme], "media": medium})
        self._ask("Page.navigate", {"url": path.as_uri()})
        self._wait_for("Page.loadEventFired")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression on the page."""
        answer = self._ask("Runtime.evaluate", {"expression": expression, "returnByValue": True})
        if "exceptionDetails" in answer:
            raise BrowserError(f"{expression}: {answer['exceptionDetails']['text']}")
        return answer["result"].get("value")

    def screenshot(self, path: Path) -> None:
        """The whole page as a picture."""
        answer = self._ask("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True})
        path.write_bytes(base64.b64decode(answer["data"]))

    def print_pdf(self, path: Path) -> None:
        """The page as it prints."""
        answer = self._ask("Page.printToPDF", {"preferCSSPageSize": True})
        path.write_bytes(base64.b64decode(answer["data"]))

    def close(self) -> None:
        """Ends it."""
        os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        os.close(self._read)
        os.close(self._write)

    def _ask(self, method: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters or {}}
        if getattr(self, "_session", None):
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive(method)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _wait_for(self, event: str) -> None:
        while not any(found["method"] == event for found in self._events):
            self._receive(event)

    def _receive(self, what: str) -> dict[str, Any]:
        """The next message; events are kept, and those that tests ask about understood."""
        deadline = time.monotonic() + _PATIENCE_S
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._read], [], [], max(0.0, deadline - time.monotonic()))
            data = os.read(self._read, 1 << 20) if ready else b""
            if not data:
                raise BrowserError(f"the browser did not answer to {what} within {_PATIENCE_S:.0f} s, or has ended")
            self._unread += data
        text, _, self._unread = self._unread.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        if "method" in message:
            self._events.append(message)
            self._understand(message["method"], message["params"])
        return message

    def _understand(self, event: str, told: dict[str, Any]) -> None:
        if event == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif event == "Runtime.exceptionThrown":
            self.complaints.append(told["exceptionDetails"]["text"])
        elif event == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.complaints.append(told["entry"]["text"])
        elif event == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning", "assert"):
            self.complaints.append(str([argument.get("value") for argument in told["args"]]))


def _moved(descriptor: int) -> int:
    """The same under a number from 10, which the program started next does not inherit."""
    copy = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return copy

"""A real browser that is driven: pages are opened, looked at, clicked and typed into over Chromium's own pipe."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
_KEYS = {"Tab": 9, "Enter": 13, "Escape": 27}


def find_browser() -> str:
    """A Chromium, or the test skips."""
    for program in _PROGRAMS:
        if found := shutil.which(program):
            return found
    pytest.skip("needs chromium to look at the page")


class Browser:
    """A running browser, and the pipe that commands and answers go through."""

    def __init__(self, profile: Path) -> None:
        to_browser, commands = os.pipe()
        answers, from_browser = os.pipe()
        script = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        words = ["bash", "-c", script, find_browser(), *_OPTIONS, f"--user-data-dir={profile}", "about:blank"]
        silent = subprocess.DEVNULL
        self.process = subprocess.Popen(words, pass_fds=(to_browser, from_browser), stdout=silent, stderr=silent)
        os.close(to_browser)
        os.close(from_browser)
        self._commands, self._answers = os.fdopen(commands, "wb", 0), os.fdopen(answers, "rb")
        self._numbers, self._rest = count(1), b""
        self.events: list[dict[str, Any]] = []

    def send(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        """The result of a command."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self._commands.write(json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != number:
            self.events.append(answer)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def wait_for(self, method: str, session: str) -> None:
        """Return when an event of this session has come."""
        while True:
            for event in self.events:
                if event.get("method") == method and event.get("sessionId") == session:
                    self.events.remove(event)
                    return
            self.events.append(self._next())

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            piece = os.read(self._answers.fileno(), 1 << 20)
            assert piece, "the browser has ended"
            self._rest += piece
        text, _, self._rest = self._rest.partition(b"\0")
        value: dict[str, Any] = json.loads(text)
        return value

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait(timeout=60)
        self._commands.close()
        self._answers.close()


@dataclass
class Tab:
    """One open page."""

    browser: Browser
    session: str

    def go(self, address: str) -> None:
        """Open an address anew and wait until it is loaded."""
        for place in ("about:blank", address):
            # what an earlier click led to is over
            self.browser.events.clear()
            self.send("Page.navigate", url=place)
            self.browser.wait_for("Page.loadEventFired", self.session)
        self.settle()

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of a command to this page."""
        return self.browser.send(method, self.session, **parameters)

    def evaluate(self, expression: str) -> Any:
        """What an expression of JavaScript, or its promise, comes to."""
        result = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def click(self, selector: str) -> None:
        """Click the middle of an element with the mouse, and wait for a page that it leads to."""
        place = self.evaluate(
            f"(one => {{ one.scrollIntoView({{ block: 'center', behavior: 'instant' }}); "
            "const box = [...one.getClientRects()][0]; "
            f"return [box.x + box.width / 2, box.y + box.height / 2]; }})(document.querySelector({selector!r}))"
        )
        for kind in ("mousePressed", "mouseReleased"):
            mouse = {"x": place[0], "y": place[1], "button": "left", "clickCount": 1}
            self.send("Input.dispatchMouseEvent", type=kind, **mouse)
        self.settle()

    def press(self, key: str) -> None:
        """Press a key."""
        code: dict[str, Any] = {"key": key, "code": key, "windowsVirtualKeyCode": _KEYS[key]}
        text = {"text": "\r"} if key == "Enter" else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", **code, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", **code)
        self.settle()

    def settle(self) -> None:
        """Wait until what was begun by a click or a key has come to an end."""
        frame = "requestAnimationFrame(() => done(document.readyState))"
        while True:
            try:
                state = self.evaluate(f"new Promise(done => setTimeout(() => {frame}, 60))")
            except AssertionError:
                # the page that was asked is gone, and another one comes
                continue
            if state == "complete":
                return

    def wait_until(self, expression: str) -> None:
        """Return when an expression has become true, on this page or the next."""
        for _ in range(200):
            try:
                if self.evaluate(f"Boolean({expression})"):
                    return
            except AssertionError:
                # the page that was asked is gone, and another one comes
                continue
            self.settle()
        raise TimeoutError(expression)

    def look(self, *, width: int = 1280, dark: bool = False, paper: bool = False, moving: bool = False) -> None:
        """Choose the window, the scheme of colours, whether it is printed, and whether anything may move."""
        colours = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        # otherwise nothing moves while its place is measured
        still = {"name": "prefers-reduced-motion", "value": "no-preference" if moving else "reduce"}
        self.send("Emulation.setEmulatedMedia", media="print" if paper else "screen", features=[colours, still])
        shape = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.send("Emulation.setDeviceMetricsOverride", **shape)


@contextmanager
def opened(profile: Path) -> Iterator[Tab]:
    """A browser with one empty page."""
    browser = Browser(profile)
    try:
        target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        session = browser.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab(browser, session)
        tab.send("Page.enable")
        tab.look()
        yield tab
    finally:
        browser.close()


def rendered(tab: Tab, page: Path, state: str) -> str:
    """The document after its scripts ran, with the address ending in `#state`."""
    tab.look(width=1400)
    tab.go(f"{page.as_uri()}#{state}")
    return str(tab.evaluate("document.documentElement.outerHTML"))


def measured(tab: Tab, page: Path, state: str, expression: str) -> Any:
    """What an expression of JavaScript says of the page as it is laid out."""
    rendered(tab, page, state)
    return tab.evaluate(expression)

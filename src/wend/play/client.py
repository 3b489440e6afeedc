"""A client in Python: what a program, a test or a benchmark needs to take part in a scene that is played live.

    with LiveClient("ws://127.0.0.1:8383/live") as client:
        client.hello()
        client.send("order", agents=[0, 1, 2], to=[40, 20])
        why = client.ask("why", pane=0, agent=0)

It keeps what a page would show: the map and the units of every pane, and the last message of every type.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from websockets.sync.client import connect

from wend.maps.terrain import DX, DY
from wend.play.frames import CELLS, CHANGE, FULL, HEADER_BYTES, MAP, MOVES, OVERLAY, UNIT, Header, read_header
from wend.play.messages import VERSION
from wend.world.trace import ABSENT

_PATIENCE_S = 300.0     # a server that compiles kernels on a busy machine may take that long for an answer
_OPTIONS: dict[str, Any] = {"max_size": None, "compression": None, "open_timeout": _PATIENCE_S}

_DX, _DY = (np.array([0, *steps, 0], np.int16).view(np.uint16) for steps in (DX, DY))     # by code; they wrap around


class LiveClient:
    """One connection to a server of `wend play`. `acknowledges=False` never says that it has seen a frame."""

    def __init__(self, url: str, *, acknowledges: bool = True, **options: Any) -> None:
        """Connect; the options are those of `websockets.sync.client.connect`."""
        self._opened = ExitStack()
        self._socket = self._opened.enter_context(connect(url, **{**_OPTIONS, **options}))
        self._acknowledges = acknowledges
        self.last: dict[str, dict[str, Any]] = {}           # the last text message of each type
        self.units: dict[int, NDArray[Any]] = {}            # UNIT[units] of each pane
        self.map: dict[int, NDArray[np.uint8]] = {}         # the class of every cell, of each pane
        self.overlay: dict[int, NDArray[np.uint8]] = {}
        self.tick: dict[int, int] = {}                      # of the units, of each pane
        self.frames: dict[int, int] = {}                    # how many came, of each kind
        self.bytes = 0                                      # in frames

    def __enter__(self) -> LiveClient:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, where: TracebackType | None) -> None:
        self._opened.close()

    def send(self, kind: str, **fields: Any) -> None:
        """Send a message."""
        self.send_raw(json.dumps({"type": kind, **fields}))

    def send_raw(self, data: str | bytes) -> None:
        """Send anything."""
        self._socket.send(data)

    def hello(self) -> dict[str, Any]:
        """Begin; return the welcome."""
        return self.ask("hello", answer="welcome", version=VERSION)

    def ask(self, kind: str, *, answer: str | None = None, **fields: Any) -> dict[str, Any]:
        """Send a message, and return the first answer of a type, which is that of the message by default."""
        wanted = answer or kind
        self.last.pop(wanted, None)
        self.send(kind, **fields)
        self.wait(lambda: wanted in self.last)
        return self.last[wanted]

    def wait(self, is_done: Callable[[], bool], seconds: float = _PATIENCE_S) -> None:
        """Receive until something is so; a TimeoutError if it takes longer than so many seconds."""
        end = time.monotonic() + seconds
        while not is_done():
            if not self.receive(max(end - time.monotonic(), 0.001)) and time.monotonic() >= end:
                newest = str(list(self.last.values())[-3:])
                raise TimeoutError(f"the server did not say it in time; the last that it said: {newest:.2000}")

    def receive(self, seconds: float) -> bool:
        """Receive one message or frame; False if none comes within so many seconds."""
        try:
            data = self._socket.recv(seconds)
        except TimeoutError:
            return False
        if isinstance(data, str):
            said = json.loads(data)
            if said["type"] == "scene" and said["scene"] != self.last.get("scene", said)["scene"]:
                for shown in (self.units, self.map, self.overlay, self.tick):
                    shown.clear()
            self.last.pop(said["type"], None)           # the last of all comes last
            self.last[said["type"]] = said
        else:
            self._show(read_header(data), data)
        return True

    def _show(self, header: Header, data: bytes) -> None:
        """Take a frame in, as a page does."""
        self.bytes += len(data)
        self.frames[header.kind] = self.frames.get(header.kind, 0) + 1
        rest = data[HEADER_BYTES:]
        if header.kind == MAP:
            self.map[header.pane] = np.frombuffer(rest, np.uint8).copy()
        elif header.kind == CELLS:
            edits = np.frombuffer(rest, CHANGE)
            self.map[header.pane][edits["which"]] = edits["value"]
        elif header.kind == FULL:
            self.units[header.pane] = np.frombuffer(rest, UNIT).copy()
        elif header.kind == MOVES:
            self._move(self.units[header.pane], header, rest)
        elif header.kind == OVERLAY:
            self.overlay[header.pane] = np.frombuffer(rest, np.uint8)
        if header.kind in (FULL, MOVES):
            self.tick[header.pane] = header.tick
        if self._acknowledges:
            self.send("ack", frame=header.frame)

    def _move(self, units: NDArray[Any], header: Header, rest: bytes) -> None:
        pairs = np.frombuffer(rest, np.uint8, (header.entries + 1) // 2)
        codes = np.stack((pairs & 15, pairs >> 4), axis=1).ravel()[: header.entries]
        changes = np.frombuffer(rest, CHANGE, header.extra, offset=pairs.size)
        is_there = codes != ABSENT
        units["x"][is_there] += _DX[codes[is_there]]
        units["y"][is_there] += _DY[codes[is_there]]
        units["code"] = codes
        units["flags"][changes["which"]] = changes["value"]

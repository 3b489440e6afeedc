# ruff: noqa: E402      # what is imported may be missing
"""A client behind a line that is shut, beside one that is not: neither the other client nor the world waits for it.

No time is looked at: the test opens and shuts the line, and waits for ticks.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

for _package in ("starlette", "uvicorn", "websockets"):
    pytest.importorskip(_package, reason="the sandbox needs the extra `viewer`")

from wend.play.catalogue import Recipe
from wend.play.client import LiveClient
from wend.play.frames import FULL
from wend.play.messages import PlayLimits
from wend.play.server import Address, serving

pytestmark = pytest.mark.usefixtures("compiled")

CROWD = Recipe(map="arena:width=128,height=96", problem="swap-sides", agents=1_000, algorithm="lra", budget=2_000)
TICKS = 60      # that the world makes while the line is shut


class Line:
    """A line to a server; while it is shut, nothing that the server sends comes through."""

    def __init__(self, address: Address) -> None:
        self.is_open = threading.Event()
        self.is_open.set()
        self._address = address
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._ends: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()
        self.near = socket.create_connection(self._listening.getsockname())

    def _accept(self) -> None:
        near, _ = self._listening.accept()
        far = socket.create_connection((self._address.host, self._address.port))
        for each in (near, far):        # as small as they get, so that the frames wait at the server and not on the way
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
        self._ends += (near, far)
        always = threading.Event()
        always.set()
        threading.Thread(target=_carry, args=(near, far, always), daemon=True).start()
        _carry(far, near, self.is_open)

    def close(self) -> None:
        self.is_open.set()
        for end in (*self._ends, self._listening, self.near):
            end.close()


def _carry(source: socket.socket, sink: socket.socket, is_open: threading.Event) -> None:
    try:
        while data := source.recv(1_000):
            is_open.wait()
            sink.sendall(data)
    except OSError:
        pass
    finally:
        sink.close()


@contextmanager
def line_to(address: Address) -> Iterator[Line]:
    line = Line(address)
    try:
        yield line
    finally:
        line.close()


def test_a_slow_client_holds_up_nobody_and_lags_by_a_few_frames() -> None:
    limits = PlayLimits()
    with serving(CROWD, limits=limits) as address, LiveClient(address.socket_url) as fast:
        fast.hello()
        fast.send("speed", ticks_per_second=20)
        fast.wait(lambda: 0 in fast.tick)
        with line_to(address) as line, LiveClient(address.socket_url, sock=line.near, close_timeout=0.2) as slow:
            slow.hello()
            slow.wait(lambda: slow.frames.get(FULL, 0) > 0)
            for _ in range(3):
                line.is_open.clear()
                begun = fast.tick[0]
                fast.wait(lambda: fast.tick[0] >= begun + TICKS)    # noqa: B023    # neither it nor the world waits
                opened = fast.tick[0]
                line.is_open.set()
                shown: list[int] = []       # the ticks that it sees until it has caught up
                while not shown or shown[-1] < opened:
                    before = sum(slow.frames.values())
                    slow.wait(lambda: sum(slow.frames.values()) > before)       # noqa: B023
                    shown.append(slow.tick[0])
                assert len(shown) <= limits.unacknowledged + 1, shown       # what was on its way, and then the newest

# ruff: noqa: E402      # what is imported may be missing
"""A client behind a slow line beside a fast one: neither the other client nor the world waits for it."""

from __future__ import annotations

import os
import socket
import threading
import time
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

SECONDS = float(os.environ.get("WEND_PLAY_SECONDS", "3"))
BYTES_PER_SECOND = 50_000
CROWD = Recipe(map="arena:width=128,height=96", problem="swap-sides", agents=1_000, algorithm="lra", budget=2_000)


@contextmanager
def slow_line(address: Address) -> Iterator[socket.socket]:
    """A line to a server that carries so many bytes per second."""
    listening = socket.create_server(("127.0.0.1", 0))
    lines: list[socket.socket] = []

    def carry(source: socket.socket, sink: socket.socket, per_second: float) -> None:
        free_at = 0.0
        try:
            while data := source.recv(1_000):
                free_at = max(free_at, time.monotonic() - 0.1) + len(data) / per_second
                time.sleep(max(free_at - time.monotonic(), 0))
                sink.sendall(data)
        except OSError:
            pass
        finally:
            sink.close()

    def accept() -> None:
        near, _ = listening.accept()
        far = socket.create_connection((address.host, address.port))
        for each in (near, far):        # as small as they get, so that the frames wait at the server and not on the way
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
        lines.extend((near, far))
        threading.Thread(target=carry, args=(near, far, 1e9), daemon=True).start()
        carry(far, near, BYTES_PER_SECOND)

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield socket.create_connection(listening.getsockname())
    finally:
        for line in (*lines, listening):
            line.close()


def catch_up(client: LiveClient) -> None:
    """Receive all that has come meanwhile."""
    end = time.monotonic() + 1
    while time.monotonic() < end:
        client.receive(0.05)


def watch(client: LiveClient, seconds: float) -> tuple[int, int]:
    """Frames that came, and ticks that passed, in so many seconds."""
    frames, tick = sum(client.frames.values()), client.tick[0]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        client.receive(0.05)
    return sum(client.frames.values()) - frames, client.tick[0] - tick


def test_a_slow_client_holds_up_nobody_and_lags_by_a_few_frames() -> None:
    limits = PlayLimits()
    with serving(CROWD, limits=limits) as address, LiveClient(address.socket_url) as fast:
        fast.hello()
        fast.send("speed", ticks_per_second=20)
        fast.wait(lambda: 0 in fast.tick)
        catch_up(fast)
        alone = watch(fast, SECONDS)
        with slow_line(address) as line, LiveClient(address.socket_url, sock=line, close_timeout=0.2) as slow:
            slow.hello()
            slow.wait(lambda: slow.frames.get(FULL, 0) > limits.unacknowledged)     # what comes at first has come
            catch_up(fast)
            lags: list[int] = []
            is_over = threading.Event()

            def watch_slowly() -> None:
                while not is_over.is_set():
                    if slow.receive(0.05):
                        lags.append(fast.tick[0] - slow.tick[0])

            thread = threading.Thread(target=watch_slowly, daemon=True)
            before = sum(slow.frames.values())
            thread.start()
            beside = watch(fast, SECONDS)
            is_over.set()
            thread.join()
            shown = sum(slow.frames.values()) - before
        print(f"frames, ticks: alone {alone}, beside a slow one {beside}; slow: {shown} frames, {max(lags)} ticks late")
        # No time is asserted, but that nobody waits: the fast one sees nearly every tick. Had the world waited for the
        # slow one, it would have made about as many ticks as that one has frames.
        assert beside[0] >= 0.7 * beside[1]
        assert beside[1] >= 2 * shown
        # What is on its way are that many full frames and texts (test_feed.py counts them). A busy machine adds to it.
        on_its_way = (limits.unacknowledged + 1) * (8 * 1_000 + 8_000)
        assert max(lags) <= 20 * on_its_way / BYTES_PER_SECOND + 60

"""A long game in the sandbox: 1,000 units, three clients that give orders and build walls. Any error? Does memory grow?

It takes minutes, so it runs only when named; `--ticks` says for how long. The server is a process of its own, whose log
must stay empty, and its memory is looked at from outside.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

from benchmarks.measure import Row
from wend.play.client import LiveClient

UNITS = 1_000
WIDTH, HEIGHT = 160, 120
CLIENTS = 3
TICKS_PER_SECOND = 20
TICKS = 12_000          # ten minutes
LOOK_AT = 3_000         # by then everything has reached its usual size
WALLS = 20              # of a client, standing at the same time, at most
ACT_EVERY_S = 0.25


def run(ticks: int = TICKS, *, units: int = UNITS, algorithm: str = "surge") -> list[Row]:
    """Errors in the log, messages that were refused, and the server's memory after a while and at the end."""
    command = [
        sys.executable, "-m", "wend", "play", f"arena:width={WIDTH},height={HEIGHT}", "--agents", str(units),
        "--algorithm", algorithm, "--problem", "swap-sides", "--budget", "8000", "--port", "0", "--no-browser",
    ]  # fmt: skip
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        url = server.stdout.readline().strip().replace("http", "ws", 1) + "live"
        looked, early, late = _play(url, ticks, server.pid)
    finally:
        server.send_signal(signal.SIGTERM)
        _, said = server.communicate(timeout=60)
    log = [line for line in said.splitlines() if "open this address" not in line and "compil" not in line]
    print("\n".join(log[:20]), file=sys.stderr)
    reached = min(player.client.tick.get(0, 0) for player in looked)
    frames = sum(sum(player.client.frames.values()) for player in looked)
    return [
        Row("lines in the server's log", "lines", len(log), at_most=0),
        Row("clients that failed", "clients", sum(player.failure is not None for player in looked), at_most=0),
        Row("messages refused", "messages", sum(player.refused for player in looked)),
        Row("actions of all clients", "actions", sum(player.actions for player in looked)),
        Row("ticks made", "ticks", reached),
        Row("frames shown by all clients", "frames", frames),
        Row(f"memory at tick {min(LOOK_AT, ticks // 2)}", "MB", early),
        Row("memory at the end", "MB", late, at_most=round(1.1 * early)),
    ]


class Player(threading.Thread):
    """A client that looks at everything and gives orders."""

    def __init__(self, url: str, number: int, until: int) -> None:
        super().__init__(daemon=True)
        self.client = LiveClient(url)
        self.actions = 0
        self.failure: Exception | None = None
        self._rng = random.Random(number)
        self._until = until
        self._walls: list[list[tuple[int, int]]] = []

    @property
    def refused(self) -> int:
        """How many of its messages were refused."""
        count: int = self.client.last.get("refused", {}).get("count", 0)
        return count

    def run(self) -> None:
        """Play until so many ticks are made."""
        try:
            with self.client:
                self.client.hello()
                self.client.wait(lambda: 0 in self.client.tick, 300)
                self.client.send("speed", ticks_per_second=TICKS_PER_SECOND)
                while self.client.tick[0] < self._until:
                    self._act()
                    self._look()
        except Exception as error:
            self.failure = error
            print(f"client: {type(error).__name__}: {error}"[:1_000], file=sys.stderr)

    def _look(self) -> None:
        pause = threading.Event()
        timer = threading.Timer(ACT_EVERY_S, pause.set)
        timer.start()
        while not pause.is_set():
            self.client.receive(0.05)

    def _act(self) -> None:
        """One of the things that people do."""
        rng, client = self._rng, self.client
        self.actions += 1
        units = len(client.units[0])
        place = rng.randrange(WIDTH), rng.randrange(HEIGHT)
        what = rng.randrange(10)
        if what < 4:
            client.send("order", agents=rng.sample(range(units), 40), to=place, how=rng.choice(["move", "attack"]))
        elif what < 6:
            x, y = place
            self._walls.append([(x, min(y + k, HEIGHT - 1)) for k in range(8)])
            client.send("paint", cells=self._walls[-1], **{"as": "wall"})
            if len(self._walls) > WALLS:
                client.send("paint", cells=self._walls.pop(0), **{"as": "free"})
        elif what == 6:
            client.send("why", pane=0, agent=rng.randrange(units))
        elif what == 7:
            client.send("overlay", pane=0, name=rng.choice(["density", "waiting", None]))
        elif what == 8:
            client.send("follow", agents=rng.sample(range(units), 3), other=rng.randrange(units))
        else:
            client.send("remove", agents=[rng.randrange(units)])
            client.send("add", cells=[place])


def _play(url: str, ticks: int, server: int) -> tuple[list[Player], float, float]:
    """Let the clients play; return them, and the server's memory after a while and at the end, in MB."""
    players = [Player(url, number, ticks) for number in range(CLIENTS)]
    for player in players:
        player.start()
    early = 0.0
    while any(player.is_alive() for player in players):
        players[0].join(1)
        if not early and all(player.client.tick.get(0, 0) >= min(LOOK_AT, ticks // 2) for player in players):
            early = _memory_mb(server)
        if not players[0].is_alive():
            for player in players:
                player.join(60)
    return players, early, _memory_mb(server)


def _memory_mb(process: int) -> float:
    """What a process has in memory now (Linux)."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024

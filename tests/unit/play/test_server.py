# ruff: noqa: E402      # what is imported may be missing
"""The server through real sockets on the loopback address: what it serves, to whom, and what it puts up with."""

from __future__ import annotations

import json
import logging
import os
import random
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

for _package in ("starlette", "uvicorn", "websockets"):
    pytest.importorskip(_package, reason="the sandbox needs the extra `viewer`")

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from wend.play.catalogue import Recipe
from wend.play.client import LiveClient
from wend.play.frames import CELLS, FULL, MOVES, OVERLAY
from wend.play.messages import MESSAGES, PlayLimits
from wend.play.server import Address, serving

pytestmark = pytest.mark.usefixtures("compiled")

SMALL = Recipe(map="open:width=24,height=16", problem="random", agents=20, algorithm="lra")
LIMITS = PlayLimits(cells=10_000, units=200, messages_per_second=100_000)
PATIENCE_S = 300        # a busy machine may take that long for anything
FUZZ = int(os.environ.get("WEND_PLAY_FUZZ", "400"))


@pytest.fixture(scope="module")
def address() -> Iterator[Address]:
    """One server for all tests that leave nothing behind."""
    with serving(SMALL, limits=LIMITS) as found:
        yield found


@pytest.fixture
def client(address: Address) -> Iterator[LiveClient]:
    """A client with a scene of its own that is paused."""
    with LiveClient(address.socket_url) as found:
        found.hello()
        found.send("speed", ticks_per_second=1)
        start(found, map=SMALL.map, agents=20, algorithm="lra")
        yield found


def start(client: LiveClient, **recipe: Any) -> None:
    """Have a scene built, pause it, and wait until it is there."""
    client.wait(lambda: "scene" in client.last and client.last["state"]["name"] != "building")
    before = client.last["scene"]["scene"]
    client.send("new", **recipe)
    client.wait(lambda: client.last["scene"]["scene"] != before)
    client.wait(lambda: len(client.units) == len(client.last["scene"]["panes"]))
    client.send("pause")
    client.wait(lambda: client.last["state"]["name"] == "paused")
    tick = client.ask("why", pane=0, agent=0)["tick"]           # the one that was under way is made by then
    client.wait(lambda: set(client.tick.values()) == {tick})


def step(client: LiveClient) -> None:
    """Make a tick, and wait until it is seen in all panes."""
    before = max(client.tick.values())
    client.send("step")
    client.wait(lambda: min(client.tick.values()) > before)


def fetch(url: str, **headers: str) -> tuple[int, dict[str, str], str]:
    request = urllib.request.Request(url, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, {k.lower(): v for k, v in error.headers.items()}, error.read().decode()


# --- files ----------------------------------------------------------------------------------------------------------


def test_the_files_of_the_page_come_with_a_policy_that_allows_no_others(address: Address) -> None:
    for name, kind in (("camera.js", "text/javascript"), ("theme.css", "text/css")):
        status, headers, text = fetch(address.url + name)
        assert status == 200
        assert text
        assert headers["content-type"].startswith(kind)
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "unsafe" not in headers["content-security-policy"]


@pytest.mark.parametrize(
    "path",
    ["no.js", "..%2freplay.py", "%2e%2e/replay.py", "static/camera.js", "..%5creplay.py", "camera.js/", "/etc/passwd"],
)
def test_no_other_file_is_served(address: Address, path: str) -> None:
    assert fetch(address.url + path)[0] == 404


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:{port}", "127.0.0.1:1", ""])
def test_requests_for_another_host_are_refused(address: Address, host: str) -> None:
    assert fetch(address.url + "theme.css", Host=host.format(port=address.port))[0] == 400


# --- who may connect ------------------------------------------------------------------------------------------------


def closed_with(url: str, **headers: str) -> tuple[int, str]:
    """How a connection is refused."""
    with connect(url, additional_headers=headers, open_timeout=PATIENCE_S) as refused:
        with pytest.raises(ConnectionClosed) as closed:
            refused.recv(timeout=PATIENCE_S)
        assert closed.value.rcvd is not None
        return closed.value.rcvd.code, closed.value.rcvd.reason


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:1", "https://localhost", "null", "file://", "http://[", ""]
)
def test_pages_of_other_origins_may_not_connect(address: Address, origin: str) -> None:
    assert closed_with(address.socket_url, Origin=origin) == (1008, "only the server's own page may connect")


def test_the_servers_own_page_may(address: Address) -> None:
    with LiveClient(address.socket_url, additional_headers={"Origin": address.url.rstrip("/")}) as client:
        assert client.hello()["version"] == 1


def test_there_is_a_most_of_clients() -> None:
    with serving(SMALL, limits=replace(LIMITS, clients=1)) as address, LiveClient(address.socket_url) as first:
        first.hello()
        assert closed_with(address.socket_url) == (1013, "too many clients")


def test_elsewhere_every_connection_needs_the_token() -> None:
    with serving(SMALL, limits=LIMITS, host="0.0.0.0") as everywhere:
        here = replace(everywhere, host="127.0.0.1")
        assert everywhere.token is not None
        assert closed_with(replace(here, token=None).socket_url) == (1008, "the token is missing or wrong")
        assert closed_with(replace(here, token="guess").socket_url) == (1008, "the token is missing or wrong")
        bare = replace(here, token=None).url
        assert [fetch(bare + name)[0] for name in ("", "play.js", "theme.css", "nothing.js")] == [403] * 4
        status, headers, _ = fetch(here.url)
        assert status == 200
        cookie, _, rules = headers["set-cookie"].partition("; ")
        assert {"HttpOnly", "SameSite=Strict"} <= set(rules.split("; "))
        assert fetch(bare + "play.js", Cookie=cookie)[0] == 200
        assert fetch(bare + "play.js", Cookie=cookie[:-1])[0] == 403
        with LiveClient(here.socket_url) as client:
            assert client.hello()["version"] == 1


def test_only_the_loopback_address_needs_no_token() -> None:
    assert [Address.of(host, 1).token for host in (None, "localhost", "127.0.0.1", "127.8.8.8", "::1")] == [None] * 5
    tokens = {Address.of(host, 1).token for host in ("0.0.0.0", "::", "192.0.2.1", "example.org")}
    assert None not in tokens
    assert len(tokens) == 4
    assert Address("::1", 80).url == "http://[::1]:80/"


# --- the conversation -----------------------------------------------------------------------------------------------


def test_the_welcome_says_what_there_is(client: LiveClient) -> None:
    welcome = client.hello()
    assert welcome["limits"]["unacknowledged"] == 4
    assert {"arena", "counterflow"} <= {each["name"] for each in welcome["maps"]}
    assert {"swap-sides", "group", "empty"} <= {each["name"] for each in welcome["problems"]}
    weave = next(each for each in welcome["algorithms"] if each["name"] == "weave")
    assert {"window", "swap"} <= {each["name"] for each in weave["parameters"]}
    assert {"density", "waiting", "traffic"} <= {each["name"] for each in weave["overlays"]}


def test_the_first_message_is_hello(address: Address) -> None:
    with LiveClient(address.socket_url) as client:
        said = client.ask("pause", answer="refused")
        assert (said["reason"], said["of"], said["count"]) == ("the first message is `hello`", "pause", 1)
        assert "version 1" in client.ask("hello", answer="refused", version=2)["reason"]


def test_steps_moves_and_pictures_agree(client: LiveClient) -> None:
    for _ in range(8):
        step(client)
    assert client.frames[MOVES] > 0
    followed = client.units[0].copy()
    full = client.frames[FULL]
    client.send("full")
    client.wait(lambda: client.frames[FULL] > full)
    assert (client.units[0] == followed).all()


def test_orders_are_carried_out_between_two_ticks(client: LiveClient) -> None:
    client.send("order", agents=[0, 1, 2], to=[3, 3])
    client.wait(lambda: client.units[0]["group"].tolist()[:4] == [1, 1, 1, 0])
    client.send("paint", cells=[[20, 2], [20, 3]], **{"as": "wall"})
    client.wait(lambda: client.map[0].sum() == 2)
    assert client.frames[CELLS] == 1
    client.send("add", cells=[[23, 15]])
    client.send("remove", agents=[4, 8])
    client.wait(lambda: client.units[0].size == 21 and client.units[0]["flags"][8] & 7 == 4)
    assert client.units[0]["flags"][4] & 7 == 4
    client.send("hold", agents=[5])
    client.wait(lambda: bool(client.units[0]["flags"][5] & 16))
    client.send("follow", agents=[6], other=7)
    client.wait(lambda: bool(client.units[0]["flags"][6] & 8))
    client.wait(lambda: client.last["tick"]["panes"][0]["units"] == 19)


def test_all_come_home_and_the_clock_rests_until_the_next_order(client: LiveClient) -> None:
    client.send("speed", ticks_per_second=120)
    client.send("resume")
    client.wait(lambda: client.last["state"]["name"] == "resting")
    assert client.last["state"]["ticks_per_second"] == 120
    client.wait(lambda: client.last["tick"]["panes"][0]["home"] == 20)
    client.wait(lambda: client.last["verdict"]["sentence"].startswith("LRA* has brought all 20 units home"))
    tick = client.tick[0]
    client.send("order", agents=[0], to=[0, 0])
    client.wait(lambda: client.tick[0] > tick)
    client.wait(lambda: client.last["state"]["name"] == "resting")


def test_why_is_answered(client: LiveClient) -> None:
    found = client.ask("why", pane=0, agent=3)
    assert found["sentence"].startswith("Unit 3 ")
    assert [link["agent"] for link in found["chain"]] == [3]
    assert "no agent 99" in client.ask("why", answer="refused", pane=0, agent=99)["reason"]
    assert "no pane 1" in client.ask("why", answer="refused", pane=1, agent=0)["reason"]


def test_overlays_come_while_they_are_chosen(client: LiveClient) -> None:
    client.send("overlay", pane=0, name="density")
    client.wait(lambda: 0 in client.overlay)
    assert client.overlay[0].size == 24 * 16
    assert client.overlay[0].max() == 255
    before = client.frames[OVERLAY]
    client.send("step")
    client.wait(lambda: client.frames[OVERLAY] > before)
    client.send("overlay", pane=0, name=None)
    assert "unknown overlay 'heat'" in client.ask("overlay", answer="refused", pane=0, name="heat")["reason"]


def test_versus_shows_two_panes_and_says_who_is_ahead(client: LiveClient) -> None:
    start(client, map=SMALL.map, agents=20, algorithm="lra", versus="lra", versus_parameters={"noise": 3})
    assert set(client.units) == {0, 1}
    assert client.last["scene"]["panes"][1]["parameters"] == {"noise": 3}
    step(client)
    client.wait(lambda: "Nodes searched: LRA*" in client.last.get("verdict", {}).get("sentence", ""))


def test_another_algorithm_and_another_budget(client: LiveClient) -> None:
    client.send("algorithm", pane=0, name="lra", parameters={"noise": 1})
    client.wait(lambda: client.last["scene"]["panes"][0]["parameters"] == {"noise": 1})
    client.send("budget", value=500)
    client.wait(lambda: client.last["scene"]["budget"] == 500)
    assert "noise" in client.ask("algorithm", answer="refused", pane=0, name="lra", parameters={"noise": -1})["reason"]
    assert "no pane 1" in client.ask("algorithm", answer="refused", pane=1, name="lra")["reason"]


def test_a_scene_that_cannot_be_built_leaves_the_old_one(client: LiveClient) -> None:
    number = client.last["scene"]["scene"]
    said = client.ask("new", answer="refused", map="/etc/passwd")
    assert "unknown" in said["reason"]
    client.send("new", map="open:width=3,height=3", agents=10, algorithm="lra")
    client.wait(lambda: "no new scene: 10 agents need more space" in client.last.get("notice", {}).get("text", ""))
    client.wait(lambda: client.last["state"]["name"] == "paused")
    step(client)
    assert client.last["scene"]["scene"] == number


def test_whoever_comes_back_sees_the_scene_as_it_is(client: LiveClient, address: Address) -> None:
    step(client)
    with LiveClient(address.socket_url) as other:
        assert other.hello()["session"] == client.hello()["session"]
        other.wait(lambda: 0 in other.units)
        assert other.last["scene"]["scene"] == client.last["scene"]["scene"]
        assert (other.units[0] == client.units[0]).all()


# --- what it puts up with ---------------------------------------------------------------------------------------------


def test_bytes_and_long_messages_are_refused(client: LiveClient) -> None:
    client.send_raw(b"\x00\x01")
    client.wait(lambda: "refused" in client.last)
    assert client.last["refused"]["reason"] == "a message is a text, not bytes"
    long = json.dumps({"type": "add", "cells": [[1, 1]] * 60_000})
    client.send_raw(long)
    client.wait(lambda: "at most" in client.last["refused"]["reason"])
    assert client.last["refused"]["count"] == 2


def test_a_frame_that_was_not_sent_cannot_be_acknowledged(client: LiveClient) -> None:
    assert "was not sent yet" in client.ask("ack", answer="refused", frame=10**6)["reason"]


def test_a_client_that_floods_is_told_slowed_and_closed_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wend.play.session._SLOWED_AT_MOST", 10)
    with (
        serving(SMALL, limits=replace(LIMITS, messages_per_second=20)) as address,
        LiveClient(address.socket_url) as client,
        LiveClient(address.socket_url) as other,
    ):
        client.hello()
        other.hello()
        other.wait(lambda: 0 in other.units)
        began = time.monotonic()
        with pytest.raises(ConnectionClosed) as closed:
            flood(client)
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1008, "too many messages")
        assert client.last["refused"]["reason"] == "more than 20 messages per second: slowed down"
        assert time.monotonic() - began > 0.4       # ten messages at twenty per second, at least
        assert other.ask("why", pane=0, agent=0)["agent"] == 0


def reason(client: LiveClient) -> str:
    """Why the last message that was refused was so."""
    return str(client.last.get("refused", {}).get("reason"))


def flood(client: LiveClient) -> None:
    for _ in range(5_000):
        client.send("speed", ticks_per_second=10)
        client.receive(0.0001)
    client.wait(lambda: False)


def malformed(rng: random.Random) -> str | bytes:
    """Something that no client should send."""
    values: list[Callable[[], Any]] = [
        lambda: rng.randint(-(2**70), 2**70), lambda: rng.random() * 1e9, lambda: None, lambda: True,
        lambda: "x" * rng.randint(0, 300), lambda: [rng.randint(-5, 30) for _ in range(rng.randint(0, 4))],
        lambda: {"a": rng.randint(0, 3)}, lambda: [[rng.randint(-9, 30)] * rng.randint(0, 3)] * rng.randint(0, 3),
        lambda: "\ud800", lambda: "../" * rng.randint(1, 5) + "etc/passwd", lambda: [0.5, 1], lambda: 0,
    ]  # fmt: skip
    choice = rng.randrange(6)
    if choice == 0:
        return rng.randbytes(rng.randint(0, 60))
    if choice == 1:
        return "".join(chr(rng.randint(32, 0x2FF)) for _ in range(rng.randint(0, 80)))
    kind = rng.choice([kind for kind in MESSAGES if kind not in ("hello", "new", "algorithm")])
    fields = {name: rng.choice(values)() for name in MESSAGES[kind] if rng.random() < 0.9}
    if rng.random() < 0.3:
        fields[rng.choice(["type", "more", "__class__", ""])] = rng.choice(values)()
    text = json.dumps({"type": kind, **fields})
    if choice == 2:
        cut = rng.randint(0, len(text))
        return text[:cut] + rng.choice(["", "}", "\x00", "]]", "NaN", '"']) + text[cut + rng.randint(0, 3) :]
    if choice == 3:
        return "[" * rng.randint(1, 3_000) + text
    return text


def test_malformed_messages_are_answered_and_counted_and_never_fatal(
    client: LiveClient, caplog: pytest.LogCaptureFixture
) -> None:
    """WEND_PLAY_FUZZ says how many."""
    rng = random.Random(19)
    with caplog.at_level(logging.WARNING):
        for _ in range(FUZZ):
            client.send_raw(malformed(rng))
            while client.receive(0):
                pass
        client.send("why", pane=0, agent=10**9)
        client.wait(lambda: "no agent 1000000000" in reason(client), seconds=PATIENCE_S)
    assert client.last["refused"]["count"] > FUZZ / 2
    assert client.last["state"]["name"] in ("paused", "running", "resting")
    assert [record.getMessage() for record in caplog.records] == []
    step(client)


def test_text_that_is_no_utf8_ends_its_own_connection_only(client: LiveClient, address: Address) -> None:
    with LiveClient(address.socket_url) as broken:
        broken.hello()
        raw = broken._socket.socket
        raw.sendall(bytes([0x81, 0x82, 0, 0, 0, 0, 0xFF, 0xFE]))        # a masked text frame of two bytes
        with pytest.raises(ConnectionClosed):
            broken.wait(lambda: False)
    assert client.ask("why", pane=0, agent=0)["agent"] == 0


def test_half_a_handshake_and_a_socket_that_is_torn_off_harm_nobody(client: LiveClient, address: Address) -> None:
    half = socket.create_connection(("127.0.0.1", address.port))
    half.sendall(b"GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n")
    torn = LiveClient(address.socket_url)
    torn.hello()
    torn._socket.socket.close()
    half.close()
    assert client.ask("why", pane=0, agent=0)["agent"] == 0

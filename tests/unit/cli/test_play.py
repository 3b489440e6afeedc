"""`wend play`: what it says before it serves, and that it serves and ends."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest
from typer.testing import CliRunner

import wend.play
from wend.cli import app
from wend.errors import ParameterError, ProblemError, UnknownNameError, WendError


def refused(*words: str) -> WendError:
    result = CliRunner().invoke(app, ["play", "--no-browser", *words])
    assert isinstance(result.exception, WendError), result.output
    return result.exception


def needs_server() -> None:
    for package in ("starlette", "uvicorn", "websockets"):
        pytest.importorskip(package, reason="the sandbox needs the extra `viewer`")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "wend.play.server", raising=False)
    monkeypatch.delattr(wend.play, "server", raising=False)
    error = refused()
    assert isinstance(error, ParameterError)
    assert "pip install 'wend[viewer]'" in str(error)


def test_a_port_that_is_taken_is_named() -> None:
    needs_server()
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        error = refused("--port", str(port))
        assert f"cannot listen at 127.0.0.1, port {port}: Address already in use" in str(error)
        assert "--port" in str(error)


def test_what_there_is_not_is_said_before_anything_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    needs_server()
    monkeypatch.setattr("wend.play.server.make_server", None)       # no server is made
    assert isinstance(refused("--algorithm", "waeve"), UnknownNameError)
    assert isinstance(refused("--versus", "nobody"), UnknownNameError)
    assert isinstance(refused("no-such-map"), UnknownNameError)
    assert isinstance(refused("arena:sed=3"), (UnknownNameError, ParameterError))
    assert isinstance(refused("--problem", "riddle"), UnknownNameError)
    assert isinstance(refused("--agents", "1000000"), (ParameterError, ProblemError))
    assert isinstance(refused("--budget", "0"), ParameterError)
    assert isinstance(refused("--seed", "-1"), ParameterError)
    assert "port is a whole number from 0 up to 65535, not 70000" in str(refused("--port", "70000"))
    assert "take the problem `empty`" in str(refused("--agents", "0"))
    assert "10 agents need more space" in str(refused("open:width=3,height=3", "--agents", "10"))
    assert isinstance(refused("arena:width=0"), WendError)
    assert "--host is a name or an address of this machine" in str(refused("--host", "203.0.113.1"))


def test_it_prints_its_address_serves_and_ends_on_ctrl_c() -> None:
    needs_server()
    command = [sys.executable, "-m", "wend", "play", "open:width=8,height=8", "--agents", "4", "--algorithm", "lra"]
    server = subprocess.Popen(
        [*command, "--problem", "random", "--port", "0", "--no-browser"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=_take_interrupts,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        with urllib.request.urlopen(address + "theme.css", timeout=60) as answer:
            assert answer.status == 200
        server.send_signal(signal.SIGINT)
        _, errors = server.communicate(timeout=60)
    finally:
        server.kill()
    assert server.returncode == 0, errors
    assert errors.splitlines() == ["open this address in a browser; Ctrl-C ends the server"]


def _take_interrupts() -> None:
    """Jobs in the background are started with interrupts ignored, and their children are, too."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()

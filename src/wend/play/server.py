"""The server: the page's files and the socket, on one port, and who may use them.

It listens on the loopback address. Elsewhere it asks every connection for a token. The `Host` of a request must be the
server's own and the `Origin` of a socket the page's, so that no other page in the same browser can use it. The files
are those of `wend.viewer`, by name: no path that a client sends is ever opened.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hmac
import ipaddress
import secrets
import socket as sockets
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from importlib.resources import files
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from wend import arguments
from wend.errors import ParameterError
from wend.play.catalogue import Catalogue, Recipe
from wend.play.controller import Controller
from wend.play.messages import PlayLimits
from wend.play.session import Session
from wend.theme import stylesheet
from wend.viewer.assets import static

PAGE = "play.html"
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_REFUSED, _TRY_LATER = 1008, 1013
_LIMITS = PlayLimits()


@dataclass(frozen=True)
class Address:
    """Where a server listens, and what it asks for there."""

    host: str = "127.0.0.1"
    port: int = 0
    token: str | None = None

    @classmethod
    def of(cls, host: str | None, port: int) -> Address:
        """The loopback address without a token; any other one with a new token."""
        if host is None or _is_loopback(host):
            return cls(host or "127.0.0.1", port)
        return cls(host, port, secrets.token_urlsafe(24))

    @property
    def url(self) -> str:
        """What to open in a browser."""
        return f"http://{self._place}/{self._query}"

    @property
    def socket_url(self) -> str:
        """What a program connects to."""
        return f"ws://{self._place}/live{self._query}"

    @property
    def _place(self) -> str:
        host = "localhost" if self.is_any else self.host
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"

    @property
    def _query(self) -> str:
        return "" if self.token is None else f"?token={self.token}"

    @property
    def is_any(self) -> bool:
        """Whether it is every address of this machine."""
        with contextlib.suppress(ValueError):
            return ipaddress.ip_address(self.host).is_unspecified
        return False

    def knows(self, host: str | None) -> bool:
        """Whether a `Host` header is this server's own."""
        if host is None:
            return False
        with contextlib.suppress(ValueError):
            parts = urlsplit(f"//{host}")
            own = (self.host.lower(), *_LOOPBACK_NAMES)
            return self.is_any or (parts.hostname in own and parts.port in (self.port, None))
        return False

    def admits(self, connection: HTTPConnection) -> bool:
        """Whether a connection presents the token, where there is one: in its address, or as the page's cookie."""
        given = connection.query_params.get("token") or connection.cookies.get(self._cookie, "")
        return self.token is None or hmac.compare_digest(given.encode(), self.token.encode())

    def headers(self) -> dict[str, str]:
        """What goes along with the page. The files that it asks for bring the token back as a cookie."""
        if self.token is None:
            return HEADERS
        return {**HEADERS, "Set-Cookie": f"{self._cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"}

    @property
    def _cookie(self) -> str:
        return f"wend-play-{self.port}"     # browsers do not tell the ports of one host apart


def _is_loopback(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host.lower() == "localhost"


def make_app(catalogue: Catalogue, recipe: Recipe, address: Address, limits: PlayLimits) -> Starlette:
    """The application that plays a scene."""
    controllers: list[Controller] = []
    session_name = secrets.token_hex(8)
    clients: set[WebSocket] = set()

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        controller = Controller(catalogue, limits)
        controllers.append(controller)
        controller.start(recipe)
        try:
            yield
        finally:
            await controller.close()

    async def file(request: Request) -> Response:
        name = request.path_params.get("name", PAGE)
        if not address.knows(request.headers.get("host")):
            return PlainTextResponse("this is not the server of that name", 400, HEADERS)
        if not address.admits(request):
            return PlainTextResponse("the token is missing: use the address that `wend play` has printed", 403, HEADERS)
        text = _text_of(name)
        if text is None:
            return PlainTextResponse("there is no such file", 404, HEADERS)
        headers = address.headers() if name == PAGE else HEADERS
        return Response(text, headers=headers, media_type=_TYPES[name.rpartition(".")[2]])

    async def live(socket: WebSocket) -> None:
        why_not = _objection(socket, address, len(clients) >= limits.clients)
        if why_not is not None:
            await socket.accept()       # so that a page can say why
            await socket.close(*why_not)
            return
        await socket.accept()
        clients.add(socket)
        session = Session(Wire(socket), controllers[-1], session_name)
        sending = asyncio.create_task(session.feed.run())
        try:
            while await session.hear(await _received(socket)) and not sending.done():
                pass
        except ConnectionError:
            pass
        finally:
            clients.discard(socket)
            session.end()
            sending.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                await sending

    routes = [Route("/", file), Route("/{name}", file), WebSocketRoute("/live", live)]
    app = Starlette(routes=routes, lifespan=lifespan)
    app.router.redirect_slashes = False
    return app


def _text_of(name: str) -> str | None:
    """The text of one of the page's files; None if there is none of that name."""
    if name == "theme.css":
        return stylesheet()
    known = {file.name for file in files("wend.viewer").joinpath("static").iterdir()}
    return static(name) if name in known and name.rpartition(".")[2] in _TYPES else None


def _objection(socket: WebSocket, address: Address, is_full: bool) -> tuple[int, str] | None:
    """Why a client may not connect, as a code and a reason; None if it may."""
    host, origin = socket.headers.get("host"), socket.headers.get("origin")
    if not address.knows(host):
        return _REFUSED, "this is not the server of that name"
    if origin is not None and not _is_at(origin, host):     # programs have none, and browsers always have one
        return _REFUSED, "only the server's own page may connect"
    if not address.admits(socket):
        return _REFUSED, "the token is missing or wrong"
    return (_TRY_LATER, "too many clients") if is_full else None


def _is_at(origin: str, host: str | None) -> bool:
    """Whether an `Origin` is a page of this host."""
    with contextlib.suppress(ValueError):       # it may be anything
        return urlsplit(origin).netloc == host
    return False


async def _received(socket: WebSocket) -> str | None:
    """The next text; None for bytes; a ConnectionError when the client has gone."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise ConnectionResetError
    text: str | None = message.get("text")
    return text


class Wire:
    """A socket on which to send; a ConnectionError says that the client has gone."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def send_text(self, data: str) -> None:
        """Send a text."""
        with _gone():
            await self._socket.send_text(data)

    async def send_bytes(self, data: bytes) -> None:
        """Send a frame."""
        with _gone():
            await self._socket.send_bytes(data)

    async def close(self, code: int, reason: str) -> None:
        """Hang up."""
        with _gone():
            await self._socket.close(code, reason)


@contextlib.contextmanager
def _gone() -> Iterator[None]:
    try:
        yield
    except (WebSocketDisconnect, RuntimeError):     # the second is what Starlette raises once a socket is closed
        raise ConnectionResetError from None


def listen(host: str, port: int) -> sockets.socket:
    """A socket that listens there; an error that says what to do if it cannot."""
    arguments.whole(port, "port", low=0, high=65_535)
    family = sockets.AF_INET6 if ":" in host else sockets.AF_INET
    listening = sockets.socket(family, sockets.SOCK_STREAM)
    try:
        listening.setsockopt(sockets.SOL_SOCKET, sockets.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(64)
    except OSError as error:
        listening.close()
        why = (error.strerror or str(error)).rstrip(".")
        is_elsewhere = isinstance(error, sockets.gaierror) or error.errno == errno.EADDRNOTAVAIL
        other_port = "Choose another --port; 0 takes any that is free"
        hint = "--host is a name or an address of this machine" if is_elsewhere else other_port
        raise ParameterError(f"cannot listen at {host}, port {port}: {why}. {hint}") from None
    return listening


@contextlib.contextmanager
def serving(
    recipe: Recipe, *, limits: PlayLimits = _LIMITS, host: str | None = None, port: int = 0
) -> Iterator[Address]:
    """A server in a thread of its own, by default on any port that is free; it ends with the block."""
    asked = Address.of(host, port)
    listening = listen(asked.host, asked.port)
    address = replace(asked, port=listening.getsockname()[1])
    server = make_server(make_app(Catalogue(limits), recipe, address, limits), limits)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="wend-server", daemon=True)
    thread.start()
    try:
        yield address
    finally:
        server.should_exit = True
        thread.join()


def make_server(app: Starlette, limits: PlayLimits) -> uvicorn.Server:
    """The server of an application; `server.serve(sockets=[...])` runs it."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="on",
        ws_max_size=4 * limits.message_bytes,
        ws_per_message_deflate=False,
        ws_ping_interval=20,
        ws_ping_timeout=60,
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config)

"""Downloading a file: bounded, checked for its length, and with errors that say whose fault it was."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wend.errors import DataError

TIMEOUT_S = 30                  # without a byte from the server
_CHUNK_BYTES = 64 * 2**10

Progress = Callable[[int, int | None], None]        # bytes received, bytes expected if the server said so


def download(url: str, path: Path, *, at_most: int, progress: Progress | None = None) -> None:
    """Write what a server sends to a file; more than `at_most` bytes, or fewer than announced, are a DataError."""
    with _open(url) as response, path.open("wb") as file:
        length = response.headers.get("Content-Length", "")
        expected = int(length) if re.fullmatch(r"[0-9]{1,15}", length) else None
        received = 0
        while chunk := _receive(response, url):
            received += len(chunk)
            if received > at_most:
                raise DataError(f"{url} sends more than the limit of {at_most} bytes")
            file.write(chunk)
            if progress:
                progress(received, expected)
    if expected is not None and received != expected:
        raise DataError(f"{url} was cut off: {received} of {expected} bytes came. Try again.")


def _open(url: str) -> Any:
    import http.client  # these take longer to import than all of the maps room, and only a download needs them
    import urllib.error
    import urllib.request

    try:
        request = urllib.request.Request(url, headers={"User-Agent": "wend"})
        return urllib.request.urlopen(request, timeout=TIMEOUT_S)
    except urllib.error.HTTPError as error:
        with error:
            raise DataError(f"{url} cannot be downloaded: the server answered {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise DataError(f"{url} cannot be downloaded: {error}") from error


def _receive(response: Any, url: str) -> bytes:
    """The next part of the body. Apart from writing it, because those failures are the disk's and not the server's."""
    import http.client

    try:
        part: bytes = response.read(_CHUNK_BYTES)
    except (OSError, http.client.HTTPException) as error:
        raise DataError(f"{url} was cut off: {error}. Try again.") from error
    return part

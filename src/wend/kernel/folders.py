"""Which folders hold compiled kernels: the user's, and in a frozen program one that it came with.

Numba does not notice an edited callee in another file, so the name of the user's folder holds a hash of all sources
that kernels may depend on; it also holds whether bounds are checked, because Numba would silently reuse code compiled
without the checks.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba

_config: Any = numba.config     # its settings are not in Numba's type stubs

ANY_PROCESSOR = "generic"       # the name under which Numba compiles for every processor of a kind: NUMBA_CPU_NAME

# Kernels stand in these rooms and in files beside them, and depend on nothing else.
COVERED = ("kernel", "maps", "search", "problems", "planners", "groups", "world")

_PACKAGE = Path(__file__).resolve().parent.parent
_STALE_AFTER_DAYS = 14


def _choose_folder() -> Path:
    """The folder for the compiled kernels of exactly these sources."""
    sources = hashlib.blake2b(digest_size=8)
    names = [entry.name for entry in os.scandir(_PACKAGE) if entry.name.endswith(".py")]
    for name in sorted(names + [name for room in COVERED for name in _sources(f"{room}/")]):
        sources.update(name.encode())
        with open(f"{_PACKAGE}/{name}", "rb", buffering=0) as file:
            sources.update(file.read())
    user_cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "wend"
    base = os.environ.get("NUMBA_CACHE_DIR") or user_cache
    checked = "-boundscheck" if _config.BOUNDSCHECK else ""
    folder = Path(base) / f"kernels-{sources.hexdigest()}{checked}"
    if folder.exists():
        with contextlib.suppress(OSError):
            os.utime(folder)            # it is in use
    else:
        _remove_stale(folder.parent)
    return folder


def _sources(folder: str) -> Iterator[str]:
    """The names of all sources in a folder of the package, `maps/grid.py` for one. (Path.rglob takes twice as long.)"""
    with os.scandir(_PACKAGE / folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield folder + entry.name
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from _sources(f"{folder}{entry.name}/")


def _remove_stale(base: Path) -> None:
    """Delete the kernel folders of sources that have not been run for a while."""
    oldest = time.time() - _STALE_AFTER_DAYS * 86_400
    for folder in base.glob("kernels-*"):
        try:
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)
        except FileNotFoundError:       # another process was quicker
            pass


FOLDER = _choose_folder()
SHIPPED = _PACKAGE / "kernels"          # in a frozen program
HAS_SHIPPED = SHIPPED.is_dir() and not _config.BOUNDSCHECK

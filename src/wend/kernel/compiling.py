"""The one jit decorator, and the idioms that every kernel follows.

A kernel is a plain function over NamedTuples of arrays, compiled by Numba. It allocates nothing, returns scalars and
writes its results into arrays that it is given; its docstring says which ("Mutates: ..."). State lives in declared
arrays (`arrays.py`). Arithmetic that may leave 32 bits says `np.int64(...)`, so that plain Python (NUMBA_DISABLE_JIT=1)
agrees. A kernel does not call itself: a recursive one crashes when it is loaded from the cache.
"Does this entry belong to the current search?" is answered by a stamp, never by clearing an array.

`_nrt=False` switches off reference counting, which costs 1.5 to 5 times the time where arrays are read out of a
NamedTuple. It is a private flag of Numba: it stands here and nowhere else, pyproject.toml pins the range of versions,
and `benchmarks/kernel_flag.py` shows when it stops working.

Kernels let go of the interpreter's lock (`nogil`), so that threads can share out work (`threads.py`). Each is compiled
once, however many kernels call it (`linking.py`).

Compiled kernels are cached on disk. Numba does not notice an edited callee in another file, so the folder's name holds
a hash of all of the package's sources; it also holds whether bounds are checked, because Numba would silently reuse
code compiled without the checks.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

_Function = TypeVar("_Function", bound=Callable[..., object])

_STALE_AFTER_DAYS = 14
_OPTIONS = {"error_model": "numpy", "nogil": True, "_nrt": False}

_config: Any = numba.config     # its settings, and njit's private flag, are not in Numba's type stubs
_njit: Any = numba.njit


def _choose_compiler() -> Callable[[Any], Any]:
    """The function that compiles: `linking.kernel`, or plain `njit` where linking is not known to work."""
    if _config.DISABLE_JIT:
        return lambda function: function
    from wend.kernel import linking

    version = tuple(int(part) for part in numba.__version__.split(".")[:2])
    if linking.TESTED[0] <= version < linking.TESTED[1]:
        return lambda function: linking.kernel(function, **_OPTIONS)
    logging.getLogger("wend").warning(
        "Numba %s is none that Wend was tested with: kernels compile three times as slowly", numba.__version__
    )
    return lambda function: _njit(cache=True, **_OPTIONS)(function)


def _cache_folder() -> Path:
    """The folder for the compiled kernels of exactly these sources."""
    sources = hashlib.blake2b(digest_size=8)
    package = Path(__file__).resolve().parent.parent
    for path in sorted(package.rglob("*.py")):
        sources.update(path.relative_to(package).as_posix().encode())
        sources.update(path.read_bytes())
    user_cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "wend"
    base = os.environ.get("NUMBA_CACHE_DIR") or user_cache
    checked = "-boundscheck" if _config.BOUNDSCHECK else ""
    folder = Path(base) / f"kernels-{sources.hexdigest()}{checked}"
    if not folder.exists():
        _remove_stale(folder.parent)
    return folder


def _remove_stale(base: Path) -> None:
    """Delete the kernel folders of sources that have not been run for a while."""
    oldest = time.time() - _STALE_AFTER_DAYS * 86_400
    for folder in base.glob("kernels-*"):
        try:
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)
        except FileNotFoundError:       # another process was quicker
            pass


_CACHE_FOLDER = str(_cache_folder())
_compile = _choose_compiler()


def jit(function: _Function) -> _Function:
    """Compile a kernel on its first call, or load it from the cache."""
    before = _config.CACHE_DIR
    _config.CACHE_DIR = _CACHE_FOLDER      # read while decorating only; other users of Numba keep their own
    try:
        compiled: _Function = _compile(function)
    finally:
        _config.CACHE_DIR = before
    return compiled


def prepared(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that has been called, for callers whose arguments are always of the types that they were of then.

    It does not look at types any more: to tell those of a planner's bundles takes longer than a small tick. If the
    kernel has been compiled for several sets of types it is returned as it is.
    """
    return _entry(kernel, len(getattr(kernel, "overloads", ())))


@functools.cache
def _entry(kernel: Callable[..., Any], versions: int) -> Callable[..., Any]:
    """Where a kernel that has been compiled so many times is entered."""
    if versions != 1:
        return kernel
    (only,) = kernel.overloads.values()     # type: ignore[attr-defined]
    entry: Callable[..., Any] = only.entry_point
    return entry

"""The one jit decorator, and the idioms that every kernel follows.

A kernel is a plain function over NamedTuples of arrays, compiled by Numba. It allocates nothing, returns scalars and
writes its results into arrays that it is given; its docstring says which ("Mutates: ..."). State lives in declared
arrays (`arrays.py`). Arithmetic that may leave 32 bits says `np.int64(...)`, so that plain Python (NUMBA_DISABLE_JIT=1)
agrees. Arrays are indexed from the front: `values[-1]` is not the last one, but other memory (`linking.py`).
A kernel does not call itself: a recursive one crashes when it is loaded from the cache.
"Does this entry belong to the current search?" is answered by a stamp, never by clearing an array.

`_nrt=False` switches off reference counting, which costs 1.5 to 5 times the time where arrays are read out of a
NamedTuple. It is a private flag of Numba: it stands here and nowhere else, pyproject.toml pins the range of versions,
and `benchmarks/kernel_flag.py` shows when it stops working.

Kernels let go of the interpreter's lock (`nogil`), so that threads can share out work (`threads.py`). Each is compiled
once, however many kernels call it (`linking.py`).

Compiled kernels are cached on disk (`folders.py`, `caching.py`).
"""

from __future__ import annotations

import functools
import logging
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numba
from numba.core import event

from wend.kernel.folders import FOLDER

_Function = TypeVar("_Function", bound=Callable[..., object])

_OPTIONS = {"error_model": "numpy", "nogil": True, "_nrt": False}

_config: Any = numba.config     # its settings, and njit's private flag, are not in Numba's type stubs
_njit: Any = numba.njit


def _choose_compiler() -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """The function that compiles: `linking.kernel`, or plain `njit` where linking is not known to work.

    And the one that writes a bundle down for what was compiled so, or leaves it as it is.
    """
    if _config.DISABLE_JIT:
        return _as_it_is, _as_it_is
    from wend.kernel import bundles, linking

    version = tuple(int(part) for part in numba.__version__.split(".")[:2])
    if linking.TESTED[0] <= version < linking.TESTED[1]:
        return lambda function: linking.kernel(function, **_OPTIONS), bundles.WrittenBundle
    logging.getLogger("wend").warning(
        "Numba %s is none that Wend was tested with: kernels compile three times as slowly", numba.__version__
    )
    return lambda function: _njit(cache=True, **_OPTIONS)(function), _as_it_is


def _as_it_is(given: Any) -> Any:
    return given


_compile, _written_down = _choose_compiler()


def jit(function: _Function) -> _Function:
    """Compile a kernel on its first call, or load it from the cache."""
    before = _config.CACHE_DIR
    _config.CACHE_DIR = str(FOLDER)    # read while decorating only; other users of Numba keep their own
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


class Keeping:
    """A bundle that kernels are given in every tick, written down for them only when a part of it was replaced."""

    def __init__(self) -> None:
        self._last: tuple[tuple[Any, ...], Any] = (), None

    def of(self, parts: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """What to pass to a kernel in place of the bundle that `make` makes of these parts."""
        known, kept = self._last
        if len(known) != len(parts) or not all(map(operator.is_, known, parts)):
            kept = _written_down(make())
            self._last = parts, kept
        return kept

    def __reduce__(self) -> tuple[type[Keeping], tuple[()]]:
        return Keeping, ()      # a copy has other arrays


class _Compilations(event.Listener):
    """Passes on that a kernel is about to be compiled."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell

    def on_start(self, event: Any) -> None:
        self._tell()

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def compiling_told(tell: Callable[[], None]) -> Iterator[None]:
    """While this lasts, `tell` is called before each kernel that has to be compiled because no cache has it."""
    with event.install_listener("numba:compile", _Compilations(tell)):
        yield

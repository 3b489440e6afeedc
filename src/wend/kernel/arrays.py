"""Declared arrays: what a field is stands once, and allocation, growth and copying are derived from it.

State is a NamedTuple whose fields are arrays, numbers or other such tuples. The annotation of an array says its dtype,
its axes by name and what it is filled with; the comment behind it says what it means, and its unit:

    class Plans(NamedTuple):
        steps: Annotated[np.ndarray, int32("agents", fill=-1)]      # moves in the plan; -1 when it has none
        cell: Annotated[np.ndarray, int32("agents", "ticks")]       # where the agent will stand, by tick
        counts: Annotated[np.ndarray, record("searches", "pushes")]

    plans = allocate(Plans, agents=64, ticks=9)
    plans = grown(plans, agents=128)

Counters and other mutable scalars of one bundle share a `record`, an array of one element with named int64 fields:
`plans.counts[0].searches += 1`, in kernels and in Python.

Growing belongs between ticks, where agents are added. Large arrays have address space for thousands of rows, so that
more rows cost neither a copy, nor memory before they are used; other arrays are copied. An array that has to grow in
the middle of a search is a `Pool` (`pools.py`), which is never copied as a whole.
"""

from __future__ import annotations

import functools
import math
import mmap
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

_CACHE_LINE = 64            # bytes
_FRESH_FROM = 1 << 20       # an array of this many bytes comes from the system, where zeros cost nothing
_HUGE_PAGE = 1 << 21        # ... from two of these on in huge pages, as NumPy's own: fewer interrupts as it is filled
_ROWS_AHEAD = 4096          # an array with rows ahead has so many in all,
_AHEAD_FROM = 1 << 16       # ... where it has this many bytes at least,
_AHEAD_TO = 1 << 28         # ... and would not have more than these

_Bundle = TypeVar("_Bundle", bound=tuple[Any, ...])


@dataclass(frozen=True)
class Declared:
    """What one array is."""

    dtype: np.dtype[Any]
    axes: tuple[str | int, ...]     # the name of each axis, whose length is given when it is allocated, or its length
    fill: int = 0

    def allocate(self, lengths: tuple[int, ...]) -> NDArray[Any]:
        """A new array."""
        made = self._with_rows_ahead(lengths) if isinstance(self.axes[0], str) else None
        if made is None:
            made = zeros(lengths, self.dtype)
        if self.fill != 0:
            made[...] = self.fill
        return made

    def _with_rows_ahead(self, lengths: tuple[int, ...]) -> NDArray[Any] | None:
        """Zeros with address space for more rows behind them; None where that is not worth it, or cannot be had."""
        row = math.prod(lengths[1:]) * self.dtype.itemsize
        rows = min(_ROWS_AHEAD, _AHEAD_TO // max(row, 1))
        if lengths[0] * row < _AHEAD_FROM or rows <= lengths[0]:
            return None
        space = _fresh(rows * row)
        if space is None:
            return None
        items = np.ndarray((rows * row // self.dtype.itemsize,), self.dtype, space)
        return items[: math.prod(lengths)].reshape(lengths)

    def lengthened(self, array: NDArray[Any], rows: int) -> NDArray[Any] | None:
        """The same array with more rows, without a copy; None where it has no space for them."""
        space: Any = array.base
        if not isinstance(getattr(space, "base", None), mmap.mmap):
            return None
        size = rows * math.prod(array.shape[1:])
        if size > space.size:
            return None
        longer: NDArray[Any] = space[:size].reshape(rows, *array.shape[1:])
        if self.fill != 0:
            longer[len(array) :] = self.fill
        return longer


def zeros(lengths: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Zeros, which cost no memory until they are touched, from the beginning of a line of the processor's cache on.

    Where pages of 64 items lie across these lines, the lookahead of BMAA* takes a tenth longer. NumPy alone would write
    32 MB of zeros for a world if another one has just gone, and its memory with it: 12 ms.
    """
    size = math.prod(lengths) * dtype.itemsize
    is_huge = size >= 2 * _HUGE_PAGE and hasattr(mmap, "MADV_HUGEPAGE")
    whole = -(-size // _HUGE_PAGE) * _HUGE_PAGE if is_huge else size        # so that it begins with a huge page, too
    if size >= _FRESH_FROM and (fresh := _fresh(whole)) is not None:
        if is_huge:
            fresh.madvise(mmap.MADV_HUGEPAGE)
        return np.ndarray(lengths, dtype, fresh)
    space = np.zeros(size + _CACHE_LINE, np.uint8)
    begin = -space.ctypes.data % _CACHE_LINE
    return space[begin : begin + size].view(dtype).reshape(lengths)


def _fresh(size: int) -> mmap.mmap | None:
    """So many bytes of address space, all 0; None where it cannot be had without memory, or not so much."""
    if not hasattr(mmap, "MAP_PRIVATE"):
        return None
    try:
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError:             # address space is limited here
        return None


def int32(*axes: str | int, fill: int = 0) -> Declared:
    """An array of int32."""
    return Declared(np.dtype(np.int32), axes, fill)


def int64(*axes: str | int, fill: int = 0) -> Declared:
    """An array of int64."""
    return Declared(np.dtype(np.int64), axes, fill)


def float64(*axes: str | int, fill: int = 0) -> Declared:
    """An array of float64."""
    return Declared(np.dtype(np.float64), axes, fill)


def uint8(*axes: str | int, fill: int = 0) -> Declared:
    """An array of bytes."""
    return Declared(np.dtype(np.uint8), axes, fill)


def flags(*axes: str | int) -> Declared:
    """An array of booleans, all False."""
    return Declared(np.dtype(np.bool_), axes)


def record(*names: str) -> Declared:
    """One element with int64 fields of these names."""
    taken = [name for name in names if hasattr(np.record, name)]
    if taken:
        raise TypeError(f"{', '.join(taken)}: in plain Python that is no field but an attribute of every record")
    return Declared(np.dtype((np.record, [(name, np.int64) for name in names])), (1,))


@functools.cache
def declared_fields(kind: type[Any]) -> dict[str, Any]:
    """By field: how it is declared, the class of a bundle inside this one, or None for a number."""
    fields: dict[str, Any] = {}
    for name, hint in typing.get_type_hints(kind, include_extras=True).items():
        declared = [about for about in getattr(hint, "__metadata__", ()) if isinstance(about, Declared)]
        fields[name] = declared[0] if declared else hint if hasattr(hint, "_fields") else None
    return fields


@functools.cache
def first_axes(kind: Any) -> tuple[tuple[str | None, int], ...]:
    """By field: the name of a declared array's first axis, if it has one, and what the array is filled with."""
    declared = declared_fields(kind)
    found: list[tuple[str | None, int]] = []
    for name in kind._fields:
        about = declared.get(name)
        axis = about.axes[0] if isinstance(about, Declared) else None
        found.append((axis, about.fill) if isinstance(about, Declared) and isinstance(axis, str) else (None, 0))
    return tuple(found)


def allocate(kind: type[_Bundle], given: Mapping[str, Any] = MappingProxyType({}), /, **lengths: int) -> _Bundle:
    """A new bundle with axes of these lengths. `given` has the fields that are not to be allocated, by name."""
    values = []
    for name, about in declared_fields(kind).items():
        if name in given:
            values.append(given[name])
        elif isinstance(about, Declared):
            values.append(about.allocate(tuple(lengths[a] if isinstance(a, str) else a for a in about.axes)))
        elif about is not None:
            values.append(allocate(about, **lengths))
        else:
            raise TypeError(f"{kind.__name__}.{name} is no array: give its value")
    return kind(*values)


def grown(bundle: _Bundle, **lengths: int) -> _Bundle:
    """The same bundle with axes of at least these lengths.

    Arrays that are long enough are kept, those with space for more rows lengthened, and others copied.
    """
    values: list[Any] = []
    for about, value in zip(declared_fields(type(bundle)).values(), bundle, strict=True):
        if isinstance(about, Declared):
            wanted = tuple(
                max(length, lengths.get(axis, 0)) if isinstance(axis, str) else length
                for axis, length in zip(about.axes, value.shape, strict=True)
            )
            if wanted != value.shape:
                larger = about.lengthened(value, wanted[0]) if wanted[1:] == value.shape[1:] else None
                if larger is None:
                    larger = about.allocate(wanted)
                    larger[tuple(map(slice, value.shape))] = value
                value = larger
        elif about is not None:
            value = grown(value, **lengths)
        values.append(value)
    return type(bundle)(*values)


def refill(bundle: tuple[Any, ...], agent: int) -> None:
    """Fill what arrays over agents hold for one of them as when they were new. Mutates: bundle, not those inside it."""
    for (axis, fill), value in zip(first_axes(type(bundle)), bundle, strict=True):
        if axis == "agents":
            value[agent] = fill


def copied(bundle: _Bundle) -> _Bundle:
    """An independent copy of a bundle and all in it."""
    values: list[Any] = []
    for about, value in zip(declared_fields(type(bundle)).values(), bundle, strict=True):
        if isinstance(about, Declared):
            values.append(value.copy())
        else:
            values.append(value if about is None else copied(value))
    return type(bundle)(*values)


def ahead(have: int, need: int) -> int:
    """How long to make an axis that is to hold `need`: twice as long as it was, so that adding one by one is cheap."""
    return have if need <= have else max(need, 2 * have, 64)

"""Declared arrays: what a field is stands once, and allocation, growth and copying are derived from it.

State is a NamedTuple whose fields are arrays, numbers or other such tuples. The annotation of an array says its dtype,
its axes by name and what it is filled with; the comment behind it says what it means, and its unit:

    class Plans(NamedTuple):
        steps: Annotated[np.ndarray, int32("agents", fill=-1)]      # moves in the plan; -1 when it has none
        cell: Annotated[np.ndarray, int32("agents", "ticks")]       # where the agent will stand, by tick
        counts: Annotated[np.ndarray, record("searches", "pushes")]

    plans = allocate(Plans, agents=64, ticks=9)
    plans = grown(plans, agents=128)

An array too large to be copied with every snapshot names another field of its bundle, flags which say where it was
written since the last one (`marked_by`). Whoever writes to it sets them. They begin as True, and so do new ones:

    far: Annotated[np.ndarray, int32("rows", "columns", marked_by="written")]
    written: Annotated[np.ndarray, marks("rows")]               # rows of `far` that were written

And one of which most rows hold zeros names flags that say which rows may hold more (`used_by`). Whoever writes anything
but zeros there sets them; a snapshot looks at no others, and takes the flag from rows that hold zeros again.

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
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from wend.journal import Journal

ALL_ROWS = 0                # see Declared.rows_per_mark

_CACHE_LINE = 64            # bytes
_IN_LINE_FROM = 1 << 12     # a declared array of this many bytes begins with such a line
_FRESH_FROM = 1 << 18       # an array of this many bytes comes from the system, where zeros cost nothing
_HUGE_PAGE = 1 << 21        # ... from two of these on in huge pages, as NumPy's own: fewer interrupts as it is filled
_ROWS_AHEAD = 4096          # an array with rows ahead has so many in all, if it does not say otherwise,
_AHEAD_FROM = 1 << 16       # ... where it has this many bytes at least,
_AHEAD_TO = 1 << 28         # ... and would not have more than these

_Bundle = TypeVar("_Bundle", bound=tuple[Any, ...])


@dataclass(frozen=True)
class Declared:
    """What one array is."""

    dtype: np.dtype[Any]
    axes: tuple[str | int, ...]     # the name of each axis, whose length is given when it is allocated, or its length
    fill: int = 0
    marked_by: str = ""             # the field of the same bundle that says which rows were written, if there is one
    rows_per_mark: int = 1          # ALL_ROWS: there is one mark for the whole array
    used_by: str = ""               # the field of the same bundle that says which rows may hold more than zeros
    is_scratch: bool = False        # holds nothing between two calls: no snapshot holds it, and to restore fills it
    is_hint: bool = False           # may hold anything between two calls: to restore leaves it as it is
    rows_ahead: int = _ROWS_AHEAD   # rows for which a large one has address space

    def allocate(self, lengths: tuple[int, ...]) -> NDArray[Any]:
        """A new array."""
        size, made = math.prod(lengths) * self.dtype.itemsize, None
        if size < _IN_LINE_FROM:
            made = np.zeros(lengths, self.dtype)
        elif size >= _AHEAD_FROM and isinstance(self.axes[0], str):
            made = self._with_rows_ahead(lengths)
        if made is None:
            made = zeros(lengths, self.dtype) if self.fill == 0 else _in_line(np.empty, lengths, self.dtype, size)
        if self.fill != 0:
            made.fill(self.fill)
        return made

    def _with_rows_ahead(self, lengths: tuple[int, ...]) -> NDArray[Any] | None:
        """Zeros with address space for more rows behind them; None where that is not worth it, or cannot be had."""
        row = math.prod(lengths[1:]) * self.dtype.itemsize
        rows = min(self.rows_ahead, _AHEAD_TO // max(row, 1))
        if rows <= lengths[0]:
            return None
        space = _fresh(rows * row)
        if space is None:
            return None
        items = np.ndarray((rows * row // self.dtype.itemsize,), self.dtype, space)
        return items[: math.prod(lengths)].reshape(lengths)

    def grown(self, array: NDArray[Any], lengths: Mapping[str, int]) -> NDArray[Any]:
        """The same array with axes of at least these lengths."""
        shape = array.shape
        axes = zip(self.axes, shape, strict=True)
        wanted = tuple([now if isinstance(axis, int) else max(now, lengths.get(axis, 0)) for axis, now in axes])
        if wanted == shape:
            return array
        larger = self.lengthened(array, wanted[0]) if wanted[1:] == shape[1:] else None
        if larger is None:
            larger = self.allocate(wanted)
            if array.size:
                larger[tuple(map(slice, shape))] = array
        return larger

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
    return _in_line(np.zeros, lengths, dtype, size)


def make_in_huge_pages(array: NDArray[Any], items: int) -> None:
    """Have the system make the memory of the first so many items of an array with rows ahead, as far as it fills huge
    pages. Where there are none, or the array has no rows ahead, nothing happens.
    """
    fresh, size = getattr(array.base, "base", None), min(items * array.itemsize, array.nbytes)
    size -= size % _HUGE_PAGE
    if size == 0 or not isinstance(fresh, mmap.mmap) or not hasattr(mmap, "MADV_HUGEPAGE"):
        return
    fresh.madvise(mmap.MADV_HUGEPAGE, 0, size)
    touched = array[: size // array.itemsize : _HUGE_PAGE // array.itemsize]
    touched += 0        # written, and left as it is


def _in_line(make: Callable[..., Any], lengths: tuple[int, ...], dtype: np.dtype[Any], size: int) -> NDArray[Any]:
    """What `np.zeros` or `np.empty` makes of so many bytes, from the beginning of a cache line on."""
    space = make(size + _CACHE_LINE, np.uint8)
    begin = -space.ctypes.data % _CACHE_LINE
    return space[begin : begin + size].view(dtype).reshape(lengths)  # type: ignore[no-any-return]


def _fresh(size: int) -> mmap.mmap | None:
    """So many bytes of address space, all 0; None where it cannot be had without memory, or not so much."""
    if not hasattr(mmap, "MAP_PRIVATE"):
        return None
    try:
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError:             # address space is limited here
        return None


def int32(
    *axes: str | int, fill: int = 0, marked_by: str = "", rows_per_mark: int = 1, used_by: str = "",
    is_scratch: bool = False, is_hint: bool = False,
) -> Declared:  # fmt: skip
    """An array of int32."""
    return Declared(np.dtype(np.int32), axes, fill, marked_by, rows_per_mark, used_by, is_scratch, is_hint)


def int64(
    *axes: str | int, fill: int = 0, marked_by: str = "", rows_per_mark: int = 1, is_scratch: bool = False,
    rows_ahead: int = _ROWS_AHEAD,
) -> Declared:  # fmt: skip
    """An array of int64."""
    return Declared(
        np.dtype(np.int64), axes, fill, marked_by, rows_per_mark, is_scratch=is_scratch, rows_ahead=rows_ahead
    )


def float64(*axes: str | int, fill: int = 0) -> Declared:
    """An array of float64."""
    return Declared(np.dtype(np.float64), axes, fill)


def uint8(
    *axes: str | int, fill: int = 0, marked_by: str = "", rows_per_mark: int = 1, is_scratch: bool = False
) -> Declared:
    """An array of bytes."""
    return Declared(np.dtype(np.uint8), axes, fill, marked_by, rows_per_mark, is_scratch=is_scratch)


def uint16(*axes: str | int) -> Declared:
    """An array of 16 bits each, without a sign."""
    return Declared(np.dtype(np.uint16), axes)


def flags(*axes: str | int, marked_by: str = "", rows_per_mark: int = 1) -> Declared:
    """An array of booleans, all False."""
    return Declared(np.dtype(np.bool_), axes, 0, marked_by, rows_per_mark)


def marks(*axes: str) -> Declared:
    """An array of booleans, all True: which rows of another array were written since the last snapshot.

    With a second axis, which parts of each row, as many equal ones as that is long.
    """
    return Declared(np.dtype(np.bool_), axes, fill=True)


def record(*names: str) -> Declared:
    """One element with int64 fields of these names."""
    return _records(1, names)


def records(axis: str, *names: str) -> Declared:
    """Elements with int64 fields of these names: they lie side by side, and an index is looked up once for all."""
    return _records(axis, names)


def _records(axis: str | int, names: tuple[str, ...]) -> Declared:
    taken = [name for name in names if hasattr(np.record, name)]
    if taken:
        raise TypeError(f"{', '.join(taken)}: in plain Python that is no field but an attribute of every record")
    return Declared(np.dtype((np.record, [(name, np.int64) for name in names])), (axis,))


@functools.cache
def declared_fields(kind: type[Any]) -> dict[str, Any]:
    """By field: how it is declared, the class of a bundle inside this one, or None for a number."""
    fields: dict[str, Any] = {}
    for name, hint in typing.get_type_hints(kind, include_extras=True).items():
        declared = [about for about in getattr(hint, "__metadata__", ()) if isinstance(about, Declared)]
        fields[name] = declared[0] if declared else hint if hasattr(hint, "_fields") else None
    return fields


class Field(NamedTuple):
    """What a snapshot has to know of a field of a bundle."""

    axis: str | None = None     # the name of a declared array's first axis, if it has one
    fill: int = 0               # what the array is filled with
    marks: int = -1             # number of the field with its marks, if it has any
    rows_per_mark: int = 1
    flags: int = -1             # number of the field that says which rows are used, if there is one
    is_left: bool = False       # no snapshot holds it, and to restore leaves it: marks, such flags, and hints
    is_scratch: bool = False


@functools.cache
def fields_of(kind: Any) -> tuple[Field, ...]:
    """The fields of a bundle."""
    declared = declared_fields(kind)
    names = list(kind._fields)
    abouts = [about for about in declared.values() if isinstance(about, Declared)]
    marks = {about.marked_by for about in abouts} | {about.used_by for about in abouts}
    found: list[Field] = []
    for name in names:
        about = declared.get(name)
        axis = about.axes[0] if isinstance(about, Declared) else None
        if isinstance(about, Declared) and isinstance(axis, str):
            marks_at, flags_at = (names.index(by) if by else -1 for by in (about.marked_by, about.used_by))
            of_marks = marks_at, about.rows_per_mark, flags_at, name in marks or about.is_hint
            found.append(Field(axis, about.fill, *of_marks, about.is_scratch))
        else:
            found.append(Field())
    return tuple(found)


def allocate(kind: type[_Bundle], given: Mapping[str, Any] = MappingProxyType({}), /, **lengths: int) -> _Bundle:
    """A new bundle with axes of these lengths. `given` has the fields that are not to be allocated, by name."""
    values = []
    for name, about in declared_fields(kind).items():
        if name in given:
            values.append(given[name])
        elif type(about) is Declared:
            values.append(about.allocate(tuple([a if isinstance(a, int) else lengths[a] for a in about.axes])))
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
        if type(about) is Declared:
            values.append(about.grown(value, lengths))
        else:
            values.append(value if about is None else grown(value, **lengths))
    return type(bundle)(*values)


def refill(bundle: tuple[Any, ...], agent: int) -> None:
    """Fill what arrays over agents hold for one of them as when they were new. Mutates: bundle, not those inside it."""
    for field, value in zip(fields_of(type(bundle)), bundle, strict=True):
        if field.axis == "agents":
            value[agent] = field.fill


def renew(bundle: tuple[Any, ...], agent: int, journal: Journal, *, is_spare: bool) -> None:
    """Refill what arrays over agents hold for one that comes, and write down how to take that back. Mutates: bundle.

    A spare row, which no agent has had, is as new.
    """
    if is_spare:
        journal.on_failure(refill, bundle, agent)
    else:
        journal.keep_row(bundle, agent)
        refill(bundle, agent)


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

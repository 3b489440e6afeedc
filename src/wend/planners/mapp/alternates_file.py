"""The file of alternate paths, as `AlternatePaths.save` writes it: every value is checked before a kernel sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.errors import FormatError
from wend.files import opened_zip, parse_array, read_entry
from wend.maps.grid import Grid

FORMAT = 1
_LIMIT_BYTES = 2 * 2**30                # of the file, and of one part unpacked
_PARTS = {"format": "<i8", "digest": "<U32", "bare": "<i4", "begin": "<i8", "cells": "<i4", "seen": "<i4"}
_PAIRS = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])     # of directions, by their number in a slot
_REMEDY = "delete it, and it is computed anew"


def read_parts(grid: Grid, path: str | Path) -> dict[str, NDArray[Any]]:
    """The parts of a file of alternate paths, every value checked: kernels follow them without looking."""
    try:
        parts = _unpacked(path)
    except FormatError as error:
        raise FormatError(path, f"{error.reason}; {_REMEDY}") from None
    if parts["format"].shape or parts["digest"].shape or int(parts["format"]) != FORMAT:
        raise FormatError(path, f"alternate paths of another version of Wend; {_REMEDY}")
    if str(parts["digest"]) != grid.digest():
        raise FormatError(path, f"alternate paths of another map; {_REMEDY}")
    if not _are_paths_of(grid, parts["bare"], parts["begin"], parts["cells"], parts["seen"]):
        raise FormatError(path, f"these are no alternate paths of this map; {_REMEDY}")
    return parts


def _unpacked(path: str | Path) -> dict[str, NDArray[Any]]:
    parts = {}
    with opened_zip(path, at_most=_LIMIT_BYTES) as archive:
        for name, dtype in _PARTS.items():
            try:
                data = read_entry(archive, archive.getinfo(f"{name}.npy"), at_most=_LIMIT_BYTES)
                parts[name] = parse_array(data, dtype, path)
            except (KeyError, FormatError) as error:
                reason = error.reason if isinstance(error, FormatError) else error
                raise FormatError(path, f"no alternate paths that can be read ({name}: {reason})") from None
    return parts


def _are_paths_of(
    grid: Grid, bare: NDArray[np.int32], begin: NDArray[np.int64], cells: NDArray[np.int32], seen: NDArray[np.int32]
) -> bool:
    """Whether each known slot has its own path: from one neighbour to the other, by legal moves, around its cell."""
    count, size, offset, moves = len(seen), grid.size, grid.tables.offset, grid.tables.moves
    if (bare.shape, begin.shape, seen.shape, cells.ndim) != ((6 * size,), (count + 1,), (count, 4), 1):
        return False
    slots = np.flatnonzero(bare >= 0)
    if bare.min(initial=0) < -1 or not np.array_equal(np.sort(bare[slots]), np.arange(count)):
        return False
    if begin[0] != 0 or begin[-1] != cells.size or np.any(np.diff(begin) < 2):
        return False
    if cells.size and not (cells.min() >= 0 and cells.max() < size):
        return False
    left, top, right, bottom = seen.T
    ordered = (left >= -1) & (top >= -1) & (left <= right) & (top <= bottom)     # a search looks beyond the edges
    if not (ordered & (right <= grid.width) & (bottom <= grid.height)).all():
        return False
    here, there = cells[:-1], cells[1:]
    legal = np.zeros(here.size, np.bool_)
    for d in range(4):
        legal |= (there - here == offset[d]) & (moves[here] >> d & 1 == 1)
    legal[begin[1:-1] - 1] = True       # from the end of one path to the beginning of the next
    around, pair = np.divmod(slots, 6)
    low, high = _PAIRS[pair].T
    number = bare[slots]
    ends = (cells[begin[number]] == around + offset[low]) & (cells[begin[number + 1] - 1] == around + offset[high])
    centre = np.empty(count, np.int64)
    centre[number] = around
    clear = cells != np.repeat(centre, np.diff(begin))
    return bool(legal.all() and ends.all() and clear.all())

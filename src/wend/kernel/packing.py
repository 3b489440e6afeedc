# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Packing: an array as those of its lines that hold something else than most of it does.

A line is 64 bytes. Arrays over the cells of a map are nearly empty: a few hundred agents stand on 65,536 cells. So what
is packed is a bit for each line, whether it is kept, and then the lines that are. Which word counts as empty is the
caller's choice; any will do.

Where it is known beforehand which rows of an array may hold anything, only these are looked at (`pick_rows`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.kernel.compiling import jit

LINE = 8            # words of 64 bits
_BITS = 64          # in a word


@jit
def packed_size(words):
    """How many words so many words, a multiple of LINE, take at the most when they are packed."""
    return words + -(-words // (LINE * _BITS))


@jit
def pack(words, empty, out, at):
    """Write whole lines of words from out[at] on, without those that are empty throughout; return where they end.

    `words` and `out` are uint64, and `out` has space for `packed_size` words. Mutates: out.
    """
    lines = words.size // LINE
    end = at + (lines + _BITS - 1) // _BITS
    for first in range(0, lines, _BITS):
        kept = np.uint64(0)
        for line in range(first, min(first + _BITS, lines)):
            begin = line * LINE
            differs = np.uint64(0)
            for k in range(LINE):
                differs |= words[begin + k] ^ empty
            if differs != 0:
                kept |= np.uint64(1) << np.uint64(line - first)
                for k in range(LINE):
                    out[end + k] = words[begin + k]
                end += LINE
        out[at + first // _BITS] = kept
    return end


@jit
def unpack(source, at, empty, words):
    """Write all lines of what was packed, read from source[at] on. Mutates: words."""
    lines = words.size // LINE
    end = at + (lines + _BITS - 1) // _BITS
    for first in range(0, lines, _BITS):
        kept = source[at + first // _BITS]
        for line in range(first, min(first + _BITS, lines)):
            begin = line * LINE
            if kept >> np.uint64(line - first) & np.uint64(1):
                for k in range(LINE):
                    words[begin + k] = source[end + k]
                end += LINE
            else:
                for k in range(LINE):
                    words[begin + k] = empty
    return end


def words_of(rows: NDArray[Any]) -> NDArray[np.uint32]:
    """An array for the two below: each of its rows as words of 32 bits."""
    return rows.reshape(len(rows), math.prod(rows.shape[1:])).view(np.uint32)


@jit
def pick_rows(words, flags, numbers, out):
    """Copy rows of words by their numbers, those of nothing but zeros left out; return how many there are.

    A row that is left out loses its flag. The numbers of the others move to the front. Mutates: flags, numbers, out.
    """
    count = 0
    for number in numbers:
        holds = np.uint32(0)
        for k in range(words.shape[1]):
            out[count, k] = words[number, k]
            holds |= words[number, k]
        if holds != 0:
            numbers[count] = number
            count += 1
        else:
            flags[number] = False
    return count


@jit
def put_rows(words, flags, used, numbers, source):
    """Write rows of words by their numbers, and zeros into all others that are used. Mutates: words, flags."""
    for number in used:
        flags[number] = False
    for number in numbers:
        flags[number] = True
    for number in used:
        if not flags[number]:
            for k in range(words.shape[1]):
                words[number, k] = 0
    for j in range(numbers.size):
        for k in range(words.shape[1]):
            words[numbers[j], k] = source[j, k]

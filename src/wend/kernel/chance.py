# mypy: disallow-untyped-defs=False
"""Chance without a generator whose state would have to be carried along."""

from __future__ import annotations

import numpy as np

from wend.kernel.compiling import jit


@jit
def scramble(value):
    """Hash an integer to 32 bits: randomness as a function of what it is for.

    The multipliers are odd and below 2**31, so that no product overflows int64 and plain Python agrees bit for bit.
    """
    value = np.int64(value) & 0xFFFFFFFF
    value = ((value ^ (value >> 16)) * 0x7FEB352D) & 0xFFFFFFFF
    value = ((value ^ (value >> 15)) * 0x31848BAB) & 0xFFFFFFFF
    value = ((value ^ (value >> 16)) * 0x2C1B3C6D) & 0xFFFFFFFF
    return value ^ (value >> 15)

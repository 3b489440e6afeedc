# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Memory: all of this process as one array, so that one call of a kernel can read or write many arrays.

To pass a hundred arrays to a kernel takes longer than to copy them. So it is written down once where they begin, and
the kernel gets that as a table. Whoever writes such a table keeps the arrays alive and as long as it says: nothing
checks that, not even where kernels run with bounds checks.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wend.kernel.compiling import jit

_FIRST = 8          # the address where it begins: at 0 there can be no array


class _Everything:
    """All addresses that a program can have, as NumPy wants to be told of them."""

    __array_interface__: ClassVar[dict[str, Any]] = {
        "data": (_FIRST, False), "shape": (1 << 62,), "typestr": "|u1", "version": 3,
    }  # fmt: skip


MEMORY: NDArray[np.uint8] = np.asarray(_Everything())
WORDS: NDArray[np.uint64] = MEMORY.view(np.uint64)


def begin_of(array: NDArray[Any]) -> int:
    """Where in MEMORY an array begins."""
    address: int = array.__array_interface__["data"][0]
    return address - _FIRST


@jit
def copy(source, target):
    """Copy numbers to a place of the same length. Mutates: target."""
    for k in range(target.size):
        target[k] = source[k]

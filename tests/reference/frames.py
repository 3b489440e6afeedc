"""Frames unit by unit, with `struct` and loops."""

from __future__ import annotations

import struct

NAMES = ("moving", "waiting", "arrived", "stuck", "absent", "yielding", "unreachable")
STEPS = {(0, 0): 0, (0, -1): 1, (1, 0): 2, (0, 1): 3, (-1, 0): 4, (1, -1): 5, (1, 1): 6, (-1, 1): 7, (-1, -1): 8}

Unit = tuple[tuple[int, int], tuple[int, int], str, bool, bool, bool, int]      # before, now, state, flags, group


def code_of(unit: Unit) -> int:
    before, now = unit[:2]
    if now == (-1, -1):
        return 9
    return STEPS.get((now[0] - before[0], now[1] - before[1]), 0)


def flags_of(unit: Unit) -> int:
    _, _, state, follows, pinned, controlled, _ = unit
    return NAMES.index(state) + 8 * follows + 16 * pinned + 32 * (not controlled)


def full(units: list[Unit]) -> bytes:
    data = b""
    for unit in units:
        x, y = unit[1] if unit[1] != (-1, -1) else (0, 0)
        data += struct.pack("<HHBBH", x, y, code_of(unit), flags_of(unit), unit[-1])
    return data


def moves(units: list[Unit], flags_before: list[int]) -> tuple[int, bytes]:
    """How many flags have changed, and the bytes."""
    codes = [code_of(unit) for unit in units] + [0] * (len(units) % 2)
    data = bytes(low + 16 * high for low, high in zip(codes[::2], codes[1::2], strict=True))
    changes = [(k, flags_of(unit)) for k, unit in enumerate(units) if flags_of(unit) != flags_before[k]]
    return len(changes), data + b"".join(struct.pack("<IB3x", k, flags) for k, flags in changes)


def box_sum(rows: list[list[int]], reach: int, x: int, y: int) -> int:
    return sum(
        value
        for v, row in enumerate(rows)
        for u, value in enumerate(row)
        if abs(u - x) <= reach and abs(v - y) <= reach
    )

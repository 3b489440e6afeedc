"""What packing keeps, in plain lists."""

from __future__ import annotations

LINE = 8


def pack(words: list[int], empty: int) -> list[int]:
    """A bit for each line, whether it holds anything but `empty`, 64 bits to a word; then the lines that do."""
    lines = [words[k : k + LINE] for k in range(0, len(words), LINE)]
    kept = [line != [empty] * LINE for line in lines]
    bits = [sum(1 << k for k, is_kept in enumerate(kept[first : first + 64]) if is_kept)
            for first in range(0, len(lines), 64)]  # fmt: skip
    return bits + [word for line, is_kept in zip(lines, kept, strict=True) if is_kept for word in line]

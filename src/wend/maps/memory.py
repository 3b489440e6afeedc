"""What a map takes in memory, held against what the machine has before anything is allocated."""

from __future__ import annotations

import os
from pathlib import Path

from wend.errors import FormatError

MAX_CELLS = 2**31 - 1       # that 32 bits can number

# Bytes per cell at the peak, measured on a map of 4,000 x 4,000.
GRID_BYTES = 12             # reading a map and making its grid
WORLD_BYTES = 70            # a world on it after a tick of Weave or LRA*; tables per agent come on top


def require_memory(width: int, height: int, *, source: str | Path, in_world: bool = False) -> float:
    """The gigabytes that a map will take; a FormatError that says so if the machine has less."""
    needed = width * height * (WORLD_BYTES if in_world else GRID_BYTES)
    free = free_bytes()
    if width * height > MAX_CELLS:
        raise FormatError(source, f"{width:,} x {height:,} cells are more than the {MAX_CELLS:,} that Wend can number")
    if free is not None and needed > free:
        what = "a world on it takes" if in_world else "it takes"
        said = f"{what} about {needed / 1e9:.1f} GB, and this machine has {free / 1e9:.1f} GB free"
        raise FormatError(source, f"a map of {width:,} x {height:,} cells is too large: {said}")
    return needed / 1e9


def free_bytes() -> int | None:
    """Memory that this process may still take: of the machine, or of the group it is confined to; None if unknown."""
    known = [size for size in (_free_of_machine(), _free_of_group()) if size is not None]
    return max(min(known), 0) if known else None


def _free_of_machine() -> int | None:
    try:
        return _facts("/proc/meminfo")["MemAvailable:"] * 1024
    except (OSError, ValueError, KeyError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):       # not on this system
        return None


def _free_of_group() -> int | None:
    """What the control group leaves; files that are only kept in memory for speed do not count as taken."""
    group = Path("/sys/fs/cgroup")
    try:
        taken = int((group / "memory.current").read_text()) - _facts(group / "memory.stat")["inactive_file"]
        return int((group / "memory.max").read_text()) - taken      # "max" is no number: there is no limit
    except (OSError, ValueError, KeyError):
        return None


def _facts(path: str | Path) -> dict[str, int]:
    """Names and numbers, one pair per line."""
    lines = (line.split() for line in Path(path).read_text().splitlines())
    return {words[0]: int(words[1]) for words in lines}

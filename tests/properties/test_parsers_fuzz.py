"""Broken files of every kind: each parses or ends in a FormatError, and none makes the parser allocate much.

The inputs are seeded mutations of small valid files. WEND_FUZZ is the number of inputs for the two parsers together.
"""

from __future__ import annotations

import os
import re
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from wend.errors import FormatError
from wend.maps.movingai import parse_map, parse_scen

INPUTS = int(os.environ.get("WEND_FUZZ", "6000")) // 2

MAPS = [
    b"type octile\nheight 3\nwidth 4\nmap\n..@T\n.GSW\nO...\n",
    b"type octile\r\nheight 2\r\nwidth 9\r\nmap\r\n.........\r\n@@@@.@@@@\r\n",
    b"type octile\nwidth 1\nheight 1\nmap\n.",
]
SCENS = [
    b"version 1\n0\tmaps/a b.map\t49\t50\t1\t11\t1\t12\t1\n4\tmaps/a b.map\t49\t50\t0\t0\t48\t49\t68.88225099\n",
    b"version 1.0\n0 a.map 4 4 0 0 3 3 4.24264\n",
    b"0\ta.map\t1\t2\t3\t4\t2.82842712\r\n1\ta.map\t9\t2\t3\t4\t6.82842712\r\n",
]
NUMBERS = [
    b"0", b"-1", b"1", b"2", b"7", b"2147483648", b"999999999", b"1000000000", b"1" * 5000, b"1e9", b"1e400", b"nan",
    b"-inf", b"0x10", b"1_0", b"", b" ", b"3.0", "٣".encode(), b"+3",
]
WORDS = [b"type", b"octile", b"height", b"width", b"map", b"version", b"\n", b"\r\n", b"\r", b"\t", b" ", b"\0"]


def mutate(data: bytes, others: list[bytes], rng: np.random.Generator) -> bytes:
    """One to four small disasters."""
    for _ in range(rng.integers(1, 5)):
        a, b = sorted(int(n) for n in rng.integers(0, len(data) + 1, size=2))
        number = NUMBERS[rng.integers(len(NUMBERS))]
        match rng.integers(9):
            case 0 if a < len(data):        # flip bits
                data = data[:a] + bytes([data[a] ^ int(rng.integers(1, 256))]) + data[a + 1:]
            case 1:                         # delete
                data = data[:a] + data[min(b, a + 8):]
            case 2:                         # insert bytes
                data = data[:a] + rng.bytes(int(rng.integers(1, 5))) + data[a:]
            case 3:                         # insert a word
                data = data[:a] + WORDS[rng.integers(len(WORDS))] + data[a:]
            case 4:                         # duplicate
                data = data[:b] + data[a:b] * int(rng.integers(1, 4)) + data[b:]
            case 5:                         # cut off
                data = data[:b]
            case 6:                         # splice with another file
                other = others[rng.integers(len(others))]
                data = data[:a] + other[rng.integers(len(other)):]
            case 7:                         # swap two lines
                lines = data.split(b"\n")
                i, j = rng.integers(len(lines), size=2)
                lines[i], lines[j] = lines[j], lines[i]
                data = b"\n".join(lines)
            case _:                         # replace a number
                places = list(re.finditer(rb"\d+", data))
                if places:
                    place = places[rng.integers(len(places))]
                    data = data[: place.start()] + number + data[place.end():]
    return data


def check_map(data: bytes) -> None:
    passable = parse_map(data, "fuzz.map")
    assert passable.dtype == np.bool_
    assert passable.ndim == 2
    assert 0 < passable.size <= len(data)


def check_scen(data: bytes) -> None:
    for row in parse_scen(data, "fuzz.scen").rows:
        assert 0 <= row.optimal < float("inf")
        for x, y in (row.start, row.goal):
            assert x >= 0
            assert y >= 0
            assert row.width is None or x < row.width
            assert row.height is None or y < row.height


def failure(check: Callable[[bytes], None], data: bytes) -> FormatError | None:
    try:
        check(data)
    except FormatError as error:
        return error
    except Exception as error:
        error.add_note(f"input: {data!r}")
        raise
    return None


@pytest.mark.parametrize(("check", "originals"), [(check_map, MAPS), (check_scen, SCENS)], ids=["map", "scen"])
def test_mutated_files_parse_or_end_in_a_format_error(
    check: Callable[[bytes], None], originals: list[bytes]
) -> None:
    assert not any(failure(check, data) for data in originals)
    rng = np.random.default_rng(20)
    parsed = 0
    tracemalloc.start()
    try:
        for _ in range(INPUTS):
            data = mutate(originals[rng.integers(len(originals))], originals, rng)
            error = failure(check, data)
            if error is None:
                parsed += 1
            else:
                assert error.source.startswith("fuzz."), data
                assert error.line is None or 1 <= error.line <= data.count(b"\n") + 1, data
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    print(f"{INPUTS} inputs, {parsed} parsed, {INPUTS - parsed} FormatErrors, {peak} bytes at most")    # shown by -rP
    assert 0 < parsed < INPUTS      # the mutations are neither all harmless nor all fatal
    assert peak < 2**20

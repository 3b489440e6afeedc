"""What the parameters of drawings and problems may be, and what is said of values that they cannot have."""

from __future__ import annotations

import numpy as np

from wend.errors import ParameterError

MAX_SIDE = 4096     # cells; the largest benchmark map has 1024
MAX_ROOM = 512      # cells; two rooms and two corridors side by side stay below MAX_SIDE
MAX_LENGTH = 1024   # cells
MAX_NARROW = 64     # cells; anything wider hardly jams
MAX_SEED = 2**63 - 1


def whole(name: str, value: int, low: int, high: int, *, given: str = "") -> int:
    """The value as a plain int, or an error that names the parameter, its range, and on what the range depends."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ParameterError(f"{name} must be a whole number, not {value!r}")
    if not low <= value <= high:
        condition = f" with {given}" if given else ""
        raise ParameterError(f"{name} is {value}, but{condition} must be from {low} to {high}")
    return int(value)


def share(name: str, value: float, low: float, high: float) -> float:
    """The value as a plain float, or an error that names the parameter and its range."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise ParameterError(f"{name} must be a number, not {value!r}")
    if not low <= value <= high:
        raise ParameterError(f"{name} is {value}, but must be from {low} to {high}")
    return float(value)


def sides(width: int, height: int, *, smallest: int, largest: int = MAX_SIDE) -> tuple[int, int]:
    """The checked width and height of a map."""
    return whole("width", width, smallest, largest), whole("height", height, smallest, largest)


def narrow_and_room(width: int, length: int, room: int, *, bent: bool = False) -> tuple[int, int, int]:
    """The checked width, length and room of a jam. Around a bend, legs must be long enough to keep the rooms apart."""
    room = whole("room", room, 2, MAX_ROOM)
    width = whole("width", width, 1, min(room - 1, MAX_NARROW), given=f"{room=}")
    shortest = (room - width + 1) // 2 + 1 if bent else 1
    return width, whole("length", length, shortest, MAX_LENGTH, given=f"{room=}, {width=}" if bent else ""), room


def seeded(seed: int) -> np.random.Generator:
    """Randomness from a checked seed."""
    return np.random.default_rng(whole("seed", seed, 0, MAX_SEED))


def parse_spec(spec: str) -> tuple[str, dict[str, int | float]]:
    """The kind of map and its parameters from text: `kind` or `kind:name=value,name=value`."""
    kind, _, listed = spec.partition(":")
    params: dict[str, int | float] = {}
    for part in listed.split(",") if listed.strip() else []:
        name, equals, text = (piece.strip() for piece in part.partition("="))
        if not (name and equals and text):
            raise ParameterError(f"map {spec!r}: {part.strip()!r} is not of the form name=value")
        if name in params:
            raise ParameterError(f"map {spec!r}: {name} is given twice")
        params[name] = _number(name, text)
    return kind.strip(), params


def _number(name: str, text: str) -> int | float:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            pass
    raise ParameterError(f"{name} must be a number, not {text!r}")

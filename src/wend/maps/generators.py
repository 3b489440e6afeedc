"""Maps of our own, drawn from a seed: Wend ships no benchmark maps, and demos, tests and `make run` need some.

Each generator is a function of keyword parameters with good defaults and returns a `Grid` that is one connected
component under the octile rule. The same parameters give the same map on every machine. `drawing.py` says how each is
drawn, and what its parameters mean.

    rooms(seed=3, width=64)                 a function per kind
    generate("rooms", seed=3, width=64)     the same by name
    from_spec("rooms:seed=3,width=64")      the same as text, as the command line takes it
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec

from wend.maps import drawing
from wend.maps.drawing import draw, draw_spec, parameters
from wend.maps.grid import Grid
from wend.maps.masks import Mask

__all__ = [
    "GENERATORS",
    "arena",
    "caves",
    "corner",
    "counterflow",
    "crossing",
    "door",
    "from_spec",
    "generate",
    "maze",
    "open_map",
    "parameters",
    "random_map",
    "rooms",
]

_P = ParamSpec("_P")


def _generator(drawn: Callable[_P, Mask]) -> Callable[_P, Grid]:
    """The drawing as a grid, with the drawing's name, parameters and description."""

    @functools.wraps(drawn)
    def generator(*args: _P.args, **kwargs: _P.kwargs) -> Grid:
        return Grid(drawn(*args, **kwargs))

    generator.__signature__ = inspect.signature(drawn).replace(return_annotation="Grid")  # type: ignore[attr-defined]
    return generator


open_map = _generator(drawing.open_map)
random_map = _generator(drawing.random_map)
rooms = _generator(drawing.rooms)
maze = _generator(drawing.maze)
caves = _generator(drawing.caves)
arena = _generator(drawing.arena)
counterflow = _generator(drawing.counterflow)
corner = _generator(drawing.corner)
crossing = _generator(drawing.crossing)
door = _generator(drawing.door)

GENERATORS: dict[str, Callable[..., Grid]] = {
    "open": open_map,
    "random": random_map,
    "rooms": rooms,
    "maze": maze,
    "caves": caves,
    "arena": arena,
    "counterflow": counterflow,
    "corner": corner,
    "crossing": crossing,
    "door": door,
}


def generate(kind: str, **params: int | float) -> Grid:
    """Draw a map by the name of its generator."""
    return Grid(draw(kind, **params))


def from_spec(spec: str) -> Grid:
    """Draw a map from text: `kind` or `kind:name=value,name=value`.

    >>> from_spec("open:width=3,height=2").to_text()
    '...\\n...\\n'
    """
    return Grid(draw_spec(spec))

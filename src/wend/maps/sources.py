"""What a MAP or SCEN argument may be: a path, a path into a zip, a generator, or a name of the data folder."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wend.errors import UnknownNameError
from wend.maps.data import find_map, find_scen
from wend.maps.drawing import draw_spec
from wend.maps.movingai import Scenario, read_map, read_scen, split_zip

# `rooms:` or `rooms:seed=3`; at least two letters, so that the drive of a Windows path is no generator.
_GENERATOR = re.compile(r"[A-Za-z][\w-]+:")


def load_passable(source: str | Path) -> NDArray[np.bool_]:
    """The terrain of a map as rows, True where a unit may stand.

    The source is the path of a `.map` file, in a zip or not; a generator such as `rooms:seed=3`; or a name of the data
    folder such as `bg512/AR0414SR`. A file that exists comes before the other two.
    """
    if _is_file(source):
        return read_map(source)
    if _GENERATOR.match(str(source)):
        return draw_spec(str(source))
    try:
        return read_map(find_map(_as_name(source)))
    except UnknownNameError as error:
        tried = "It is no file, and no generator (kind: or kind:key=value,...)."
        raise UnknownNameError(error.kind, error.name, error.known, hint=f"{tried} {error.hint}") from None


def load_scenario(source: str | Path) -> Scenario:
    """A scenario: the path of a `.scen` file, in a zip or not, or a name such as `mapf/den312d-random-1`."""
    if _is_file(source):
        return read_scen(source)
    try:
        return read_scen(find_scen(_as_name(source)))
    except UnknownNameError as error:
        raise UnknownNameError(error.kind, error.name, error.known, hint=f"It is no file. {error.hint}") from None


def _is_file(source: str | Path) -> bool:
    return os.path.isfile(source) or split_zip(Path(source)) is not None


def _as_name(source: str | Path) -> str:
    return source.as_posix() if isinstance(source, Path) else source

"""Maps and problems as pictures: what the thesis's network looks at.

D. Sigurdson, "Automatic Algorithm Selection in Videogame Pathfinding" (MSc thesis, University of Alberta, 2018),
sections 4.4.3 and 5.3.3. White is blocked and black is passable. Of many agents, each start is a green pixel and each
goal a red one, which is drawn last; nothing tells which belongs to which. Of one agent, start and goal are squares of
3 x 3, joined by a line of one pixel, for which the thesis names no colour: here it is blue.

A picture has a pixel for each cell, and is resized bicubically to what the network takes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wend.maps.grid import Grid
from wend.maps.terrain import Point
from wend.problems.problem import Problem
from wend.selection.networks import SIDE

START, GOAL, LINE = (0, 255, 0), (255, 0, 0), (0, 0, 255)

Picture = NDArray[np.uint8]     # [rows, columns, 3]


def map_picture(grid: Grid) -> Picture:
    """A map, a pixel for each cell."""
    return np.repeat(np.where(grid.passable, 0, 255).astype(np.uint8)[:, :, None], 3, axis=2)


def problem_picture(problem: Problem) -> Picture:
    """A map with the starts and goals of many agents."""
    picture = map_picture(problem.grid)
    pixels = picture.reshape(-1, 3)
    pixels[problem.starts] = START
    pixels[problem.goals] = GOAL
    return picture


def pair_picture(grid: Grid, start: Point, goal: Point) -> Picture:
    """A map with the start and the goal of one agent and the line between them."""
    picture = map_picture(grid)
    steps = max(abs(goal[0] - start[0]), abs(goal[1] - start[1]), 1)
    along = np.linspace(0, 1, steps + 1)
    columns, rows = (np.rint(start[k] + along * (goal[k] - start[k])).astype(np.intp) for k in (0, 1))
    picture[rows, columns] = LINE
    for (x, y), colour in ((start, START), (goal, GOAL)):
        picture[max(y - 1, 0) : y + 2, max(x - 1, 0) : x + 2] = colour
    return picture


def resized(picture: Picture, side: int = SIDE) -> Picture:
    """The picture as a square of so many pixels, by cubic convolution; where it shrinks, every pixel has its share."""
    down, across = (_weights(size, side) for size in picture.shape[:2])
    smooth = np.einsum("yr,rck,xc->yxk", down, picture.astype(np.float32), across, optimize=True)
    return np.asarray(np.clip(np.rint(smooth), 0, 255), np.uint8)


def _weights(size: int, side: int) -> NDArray[np.float32]:
    """[side, size] how much each old pixel of a line counts for each new one."""
    ratio = size / side
    centres = (np.arange(side) + 0.5) * ratio - 0.5
    far = np.abs(np.arange(size) - centres[:, None]) / max(ratio, 1)
    near = (1.5 * far - 2.5) * far**2 + 1
    outer = ((2.5 - 0.5 * far) * far - 4) * far + 2
    weights = np.where(far <= 1, near, np.where(far < 2, outer, 0))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), np.float32)

"""Draw the pictures of docs/teaching.md: python docs/images/teaching.py [FOLDER]

All of it is looked at through the window of planners: `world.intent(agent)` and `world.planner.overlay(name)`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

import wend
from wend.maps.terrain import DX, DY

AWAY = ("waiting", "stuck", "yielding")
WALL, WAITS, MOVES = "#5b6472", "#d97a00", "#1f6fd6"

NICHE = "@@@.@@@\n......."
DEAD_END = ".........\n.@@@@@@..\n......@..\n.@@@@@@..\n........."
YARD = ".........\n....@@@..\n.........\n..@@@....\n........."


def niche() -> wend.World:
    """WHCA*: two agents pass a niche in which a third one waits."""
    world = wend.World(wend.Grid.from_text(NICHE, connectivity=4), wend.create("whca", window=8))
    world.add((1, 1), goal=(6, 1))
    world.add((0, 1), goal=(5, 1))
    world.add((3, 0), goal=(0, 1))
    return world


def dead_end(key: str = "bmaa") -> wend.World:
    """BMAA*: two agents in a dead end that lies straight before their goals."""
    world = wend.World(wend.Grid.from_text(DEAD_END), wend.create(key, expansions=8))
    world.add((3, 2), goal=(8, 2))
    world.add((1, 2), goal=(8, 1))
    return world


def yard() -> wend.World:
    """MAPP: ten units with starts and goals all over a yard."""
    grid = wend.Grid.from_text(YARD, connectivity=4)
    draw = np.random.default_rng(4)
    starts, goals = draw.permutation(grid.free_cells())[:10], draw.permutation(grid.free_cells())[:10]
    return wend.World.from_problem(wend.Problem(grid, starts, goals), "mapp")


def agents_that_wait(world: wend.World) -> list[int]:
    """The agents that stayed in the last tick, away from their goals."""
    states = map(world.agent_state, range(world.agents))
    return [agent for agent, state in enumerate(states) if state.waited_ticks and state.name in AWAY]


def tick_until_one_waits(world: wend.World) -> None:
    """Make ticks up to the first one in which an agent waits."""
    world.tick()
    while not agents_that_wait(world):
        world.tick()


# --- what is drawn --------------------------------------------------------------------------------------------------


def draw_map(axes: plt.Axes, grid: wend.Grid, values: NDArray[np.float64] | None = None, words: str = "") -> None:
    """The map, coloured by values of its cells if there are any, which are then written into them as `words` says."""
    shown = np.full(grid.size, np.nan) if values is None else np.where(grid.free, values, np.nan)
    axes.set_facecolor("white")
    most = max(1.0, 2 * np.nanmax(shown, initial=0))        # so that the darkest cell can still be written on
    axes.imshow(shown.reshape(grid.height, grid.width), cmap="Blues", vmin=0, vmax=most)
    for cell in range(grid.size):
        x, y = grid.xy(cell)
        if not grid.free[cell]:
            axes.add_patch(plt.Rectangle((x - 0.5, y - 0.5), 1, 1, color=WALL, linewidth=0))
        elif words:
            axes.text(x, y + 0.32, format(shown[cell], words), ha="center", va="center", fontsize=6)
    axes.set(xticks=np.arange(-0.5, grid.width), yticks=np.arange(-0.5, grid.height))
    axes.tick_params(length=0, labelbottom=False, labelleft=False)
    axes.grid(color="#d5dae1", linewidth=0.5)


def draw_agents(axes: plt.Axes, world: wend.World, *, paths: bool = False) -> None:
    """Where agents are; an arrow from each that waits to the one that it waits for."""
    waiting = agents_that_wait(world)
    for agent in range(world.agents):
        (x, y), intent = world.position(agent), world.intent(agent)
        colour = WAITS if agent in waiting else MOVES
        if paths and intent.path:
            axes.plot(*zip((x, y), *intent.path, strict=True), color=colour, linewidth=1, alpha=0.6)
        axes.scatter(x, y, s=150, color=colour, zorder=3)
        axes.text(x, y, str(agent), color="white", ha="center", va="center", fontsize=8, weight="bold", zorder=4)
        if agent in waiting and intent.waits_for is not None:
            arrow = {"arrowstyle": "-|>", "linewidth": 1.5, "shrinkA": 6, "shrinkB": 5, "color": "black"}
            axes.annotate("", world.position(intent.waits_for), (x, y), arrowprops=arrow, zorder=5)


def draw_flow(axes: plt.Axes, grid: wend.Grid, moves: NDArray[np.uint8]) -> None:
    """The moves that a flow field allows, an arrow each; diagonal ones are left out."""
    for cell in np.flatnonzero(grid.free).tolist():
        x, y = grid.xy(cell)
        for d in range(4):
            if moves[cell] >> d & 1:
                axes.arrow(x, y, DX[d] * 0.28, DY[d] * 0.28, head_width=0.14, color=MOVES, linewidth=0.8)


def picture_of_whca(path: Path) -> None:
    """A tick of WHCA*: who waits for whom, and what is reserved in the ticks that follow."""
    world = niche()
    tick_until_one_waits(world)
    figure, panels = plt.subplots(1, 4, figsize=(11, 1.5), layout="constrained")
    draw_map(panels[0], world.grid)
    draw_agents(panels[0], world)
    panels[0].set_title(f"after tick {world.ticks}", fontsize=9)
    for later, axes in enumerate(panels[1:], 1):
        draw_map(axes, world.grid)
        for agent in range(world.agents):
            x, y = world.intent(agent).path[later - 1]
            axes.add_patch(plt.Rectangle((x - 0.5, y - 0.5), 1, 1, color=MOVES, alpha=0.3, linewidth=0))
            axes.text(x, y, str(agent), ha="center", va="center", fontsize=9)
        axes.set_title(f"reserved for tick {world.ticks + later}", fontsize=9)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def picture_of_bmaa(path: Path) -> None:
    """A tick of BMAA*: what an agent believes, what it learns, who waits; and the one-way streets of BMAA*-f."""
    world, streets = dead_end(), dead_end("bmaa-f")
    figure, panels = plt.subplots(2, 2, figsize=(9, 5.2), layout="constrained")
    before = world.planner.overlay("learned", 0)
    draw_map(panels[0, 0], world.grid, before, ".1f")
    draw_agents(panels[0, 0], world)
    panels[0, 0].set_title("what agent 0 believes at first: cells to its goal", fontsize=9)
    world.tick()
    draw_map(panels[0, 1], world.grid, world.planner.overlay("learned", 0) - before, "+.1f")
    draw_agents(panels[0, 1], world, paths=True)
    panels[0, 1].set_title("after tick 1: what agent 0 has learned, and the paths", fontsize=9)
    while not agents_that_wait(world):
        world.tick()
    draw_map(panels[1, 0], world.grid)
    draw_agents(panels[1, 0], world, paths=True)
    panels[1, 0].set_title(f"after tick {world.ticks}: who waits for whom", fontsize=9)
    draw_map(panels[1, 1], streets.grid)
    draw_flow(panels[1, 1], streets.grid, streets.planner.overlay("flow"))
    panels[1, 1].set_title("the flow field of BMAA*-f", fontsize=9)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def picture_of_mapp(path: Path) -> None:
    """A tick of MAPP: the moves that are left of its plan, and which units let others pass first."""
    world = yard()
    tick_until_one_waits(world)
    figure, panels = plt.subplots(1, 2, figsize=(9, 2.7), layout="constrained")
    draw_map(panels[0], world.grid, world.planner.overlay("traffic").astype(float), ".0f")
    draw_agents(panels[0], world)
    panels[0].set_title(f"after tick {world.ticks}: moves of the plan that still lead to each cell", fontsize=9)
    draw_map(panels[1], world.grid)
    draw_agents(panels[1], world, paths=True)
    panels[1].set_title("the moves ahead of each unit, and who waits for whom", fontsize=9)
    figure.savefig(path, dpi=110)
    plt.close(figure)


PICTURES = {"whca": picture_of_whca, "bmaa": picture_of_bmaa, "mapp": picture_of_mapp}


def main(folder: Path) -> None:
    """Draw all pictures into a folder."""
    for name, draw in PICTURES.items():
        draw(folder / f"teaching-{name}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)

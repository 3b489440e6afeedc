"""Draw weave.png: python docs/images/weave.py"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import wend
from wend.problems.scenarios import make_problem

GRID = wend.Grid.load("counterflow:width=1")
COLOURS = {"another agent": "#d62728", "lets others": "#9467bd", "": "#2ca02c"}
WORDS = {"another agent": "another is in its way", "lets others": "lets others pass", "": "on its path"}


def draw_crowd(axes: plt.Axes, ticks: int) -> None:
    """A moment of the jam: where agents stand, where they would go, and how many would come to each cell."""
    world = wend.World.from_problem(make_problem("counterflow", GRID, agents=24, seed=1), "weave")
    for _ in range(ticks):
        world.tick()
    traffic = world.planner.overlay("traffic").reshape(GRID.height, GRID.width).astype(float)
    traffic[~GRID.passable] = np.nan
    axes.imshow(traffic, cmap="Greys", vmin=0, vmax=16)
    axes.set_facecolor("#444444")
    seen = set()
    for agent in range(world.agents):
        intent = world.intent(agent)
        word = next(key for key in COLOURS if intent.reason.startswith(key))
        x, y = zip(world.position(agent), *intent.path, strict=False)
        axes.plot(x, y, color=COLOURS[word], linewidth=1)
        axes.scatter(x[0], y[0], s=22, color=COLOURS[word], label=WORDS[word] if word not in seen else None, zorder=3)
        seen.add(word)
    axes.set(xticks=[], yticks=[], title=f"24 units meet in a corridor: tick {ticks}, guide paths and traffic")
    axes.legend(loc="upper center", fontsize=7, ncols=4, bbox_to_anchor=(0.5, 0.02))


def draw_arrivals(axes: plt.Axes, limit: int) -> None:
    """How many units are home, tick by tick."""
    for key in ("weave", "whca"):
        world = wend.World.from_problem(make_problem("counterflow", GRID, agents=24, seed=1), key)
        home = [world.home_count()]
        while world.ticks < limit:
            world.tick()
            home.append(world.home_count())
        axes.plot(home, label={"weave": "Weave", "whca": "WHCA*"}[key])
    axes.set(xlabel="tick", ylabel="units at home", ylim=(0, 25), title="The same jam with both planners")
    axes.legend()


figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.2), width_ratios=(3, 2), layout="constrained")
draw_crowd(left, 14)
draw_arrivals(right, 200)
figure.savefig(Path(__file__).with_name("weave.png"), dpi=100)

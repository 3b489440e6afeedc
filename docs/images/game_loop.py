"""Draw game-loop.png: python docs/images/game_loop.py"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

TICKS, TICK_MS, FRAME_MS = 5, 100, 1000 / 60
CELL_AFTER = [0, 1, 2, 2, 3, 4]         # a unit on its path; in the third tick it waits
TICK, FRAME = "#1f77b4", "#ff7f0e"

figure, axes = plt.subplots(figsize=(9, 3.2), layout="constrained")
for tick in range(1, TICKS + 1):
    axes.axvline(tick * TICK_MS, color=TICK, linewidth=0.8, alpha=0.5)
    axes.text(tick * TICK_MS, 4.35, f"tick {tick}", color=TICK, ha="center", fontsize=9)
axes.step(np.arange(TICKS + 2) * TICK_MS, [*CELL_AFTER, CELL_AFTER[-1]], where="post", color=TICK,
          label="the world: ten ticks a second")  # fmt: skip
frames = np.arange(TICK_MS, TICKS * TICK_MS + TICK_MS, FRAME_MS)
tick = np.minimum(np.floor(frames / TICK_MS + 1e-9).astype(int), TICKS)
share = np.minimum(frames / TICK_MS - tick, 1.0)
before, after = np.array(CELL_AFTER)[tick - 1], np.array(CELL_AFTER)[tick]
axes.plot(frames, (1 - share) * before + share * after, "o-", color=FRAME, markersize=4, linewidth=0.8,
          label="the screen: sixty frames a second, one tick behind")  # fmt: skip
axes.set(xlabel="ms", ylabel="cell on its path", ylim=(-0.3, 4.3), xlim=(0, (TICKS + 1) * TICK_MS), yticks=range(5))
axes.spines[["top", "right"]].set_visible(False)
axes.legend(loc="lower right", frameon=False)
figure.savefig(Path(__file__).with_name("game-loop.png"), dpi=100)

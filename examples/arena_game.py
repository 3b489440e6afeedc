"""A small real-time strategy game on Wend: `python examples/arena_game.py` (needs pygame: `pip install '.[examples]'`).

Drag a box to select units, right-click to send them, hold W over the map to build walls and E to tear them down.
Units move ten times a second; the screen is drawn sixty times a second, between where units were and where they are.
"""

from __future__ import annotations

import numpy as np
import pygame

import wend

CELL, TICKS_PER_SECOND, FRAMES_PER_SECOND = 10, 10, 60
BUDGET = 8_000                          # node expansions per tick
GROUND, WALL, UNIT, CHOSEN, GOAL = (24, 26, 32), (58, 63, 78), (110, 168, 254), (255, 200, 87), (82, 72, 44)


class Game:
    """Sixty units on an arena: the world, what is selected, and the time until the next tick."""

    def __init__(self, screen: pygame.Surface, grid: wend.Grid) -> None:
        self.screen, self.font = screen, pygame.font.Font(None, 20)
        self.world = wend.World(grid, "weave", record=False)
        left = [grid.xy(int(cell)) for cell in grid.largest_component() if grid.xy(int(cell))[0] < 14]
        self.units = [self.world.add(place) for place in left[::4][:60]]
        self.chosen: set[int] = set()
        self.corner: tuple[int, int] | None = None      # where the drag began
        self.waited = 0.0                               # seconds since the last tick

    def update(self, seconds: float) -> None:
        """Tick as often as it is due; a frame that came late is not made up for by more than one tick."""
        self.waited = min(self.waited + seconds, 2 / TICKS_PER_SECOND)
        while self.waited >= 1 / TICKS_PER_SECOND:
            self.waited -= 1 / TICKS_PER_SECOND
            self.world.tick(budget=BUDGET)

    def on_screen(self) -> np.ndarray:
        """Where to draw each unit: as far between its last two places as the next tick is near."""
        share = self.waited * TICKS_PER_SECOND
        before, now = self.world.previous_positions()[self.units], self.world.positions()[self.units]
        return (before + share * (now - before) + 0.5) * CELL

    def handle(self, event: pygame.event.Event) -> None:
        if event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
            self.corner = event.pos
        elif event.type == pygame.MOUSEBUTTONUP and event.button == 1 and self.corner is not None:
            box = self.box(event.pos)
            self.chosen = {unit for unit, at in zip(self.units, self.on_screen(), strict=True) if box.collidepoint(at)}
            self.corner = None
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button == 3 and self.chosen:
            self.world.order_group(sorted(self.chosen), self.cell(event.pos))

    def box(self, pos: tuple[int, int]) -> pygame.Rect:
        """From where the drag began to the mouse."""
        (x, y), (u, v) = self.corner or pos, pos
        return pygame.Rect(min(x, u), min(y, v), abs(x - u) + 1, abs(y - v) + 1)

    def cell(self, pos: tuple[int, int]) -> tuple[int, int]:
        """The place under the mouse."""
        grid = self.world.grid
        return min(pos[0] // CELL, grid.width - 1), min(pos[1] // CELL, grid.height - 1)

    def build(self, pos: tuple[int, int], *, wall: bool) -> None:
        place = self.cell(pos)
        if not wall:
            self.world.unblock([place])
        elif all(self.world.position(unit) != place for unit in self.units):
            self.world.block([place])

    def draw(self) -> None:
        self.screen.fill(GROUND)
        for y, x in np.argwhere(~self.world.grid.passable).tolist():
            self.screen.fill(WALL, (x * CELL, y * CELL, CELL, CELL))
        for unit in self.chosen:
            x, y = self.world.goal(unit)
            pygame.draw.rect(self.screen, GOAL, (x * CELL, y * CELL, CELL, CELL), border_radius=3)
        for unit, at in zip(self.units, self.on_screen(), strict=True):
            pygame.draw.circle(self.screen, CHOSEN if unit in self.chosen else UNIT, at, CELL * 0.42)
        if self.corner is not None:
            pygame.draw.rect(self.screen, CHOSEN, self.box(pygame.mouse.get_pos()), 1)
        said = f"{self.world.home_count()} of {len(self.units)} units are where they were sent"
        self.screen.blit(self.font.render(said, True, CHOSEN), (8, 6))
        pygame.display.flip()


def main() -> None:
    pygame.init()
    grid = wend.mapgen.generate("arena", seed=3)
    screen = pygame.display.set_mode((grid.width * CELL, grid.height * CELL))
    pygame.display.set_caption("compiling kernels, once ...")
    wend.warm_up("weave")
    pygame.display.set_caption("Wend: drag to select, right-click to send, W and E for walls")
    game, clock = Game(screen, grid), pygame.time.Clock()
    is_running = True
    while is_running:
        for event in pygame.event.get():
            is_running = is_running and event.type != pygame.QUIT
            game.handle(event)
        held = pygame.key.get_pressed()
        if held[pygame.K_w] or held[pygame.K_e]:
            game.build(pygame.mouse.get_pos(), wall=bool(held[pygame.K_w]))
        game.update(clock.tick(FRAMES_PER_SECOND) / 1000)
        game.draw()
    pygame.quit()


if __name__ == "__main__":
    main()

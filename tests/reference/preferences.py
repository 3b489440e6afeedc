"""One tick of PIBT with hindrance, occupation and swaps: agents as a list of places, distances as a function."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from tests.reference.grid import legal_steps
from tests.reference.pibt import ReferencePibt, ReferenceSwap
from wend.kernel import scramble
from wend.maps.grid import Grid
from wend.maps.terrain import Point


def next_places(
    grid: Grid,
    at: Sequence[Point],
    far: Callable[[int, Point], int],
    step: Sequence[int],
    order: Sequence[int],
    *,
    swaps: bool = True,
    lot: int = 0,
    fixed: Mapping[int, Point] | None = None,
    wishes: Mapping[int, Point | None] | None = None,
    firm: Collection[int] = (),
) -> dict[int, Point]:
    """Where the agents go that are decided.

    `step` is the cost of a move in each direction and of a wait. Those in `fixed` go where it says; those in `firm`
    hinder and swap with no other. Nothing comes before an agent's cell in `wishes`.
    """
    standing = {place: agent for agent, place in enumerate(at)}
    swap = ReferenceSwap(grid.neighbours, standing, far)

    def beside(here: Point, but: Point) -> list[int]:
        near = [standing[place] for _, place in legal_steps(grid, here) if place in standing and place != but]
        return [other for other in near if other not in firm]

    def key(agent: int, d: int, there: Point) -> tuple[int, int, int]:
        hindered = sum(far(other, there) < far(other, at[other]) for other in beside(at[agent], there))
        is_busy = standing.get(there, agent) != agent
        draw = scramble(scramble(lot ^ int(scramble(agent))) + d) & 255
        cost = 0 if wishes is not None and wishes[agent] == there else far(agent, there)
        return cost + step[d], hindered + is_busy, draw

    def partner_of(agent: int, best: Point) -> int | None:
        here, ahead = at[agent], standing.get(best)
        if not swaps or best == here:
            return None
        if ahead is not None and ahead not in pibt.goes and swap.should(agent, here, ahead, best):
            return ahead
        return next((other for other in beside(here, best) if swap.should(other, here, agent, best)), None)

    def options(agent: int, pusher: int | None) -> tuple[Sequence[Point], int | None]:  # noqa: ARG001
        steps = [*legal_steps(grid, at[agent]), (8, at[agent])]
        places = [there for d, there in sorted(steps, key=lambda step: key(agent, *step))]
        partner = partner_of(agent, places[0])
        return (places if partner is None else places[::-1]), partner

    pibt = ReferencePibt(at, options, fixed=fixed)
    for agent in order:
        if agent not in pibt.goes:
            pibt.decide(agent)
            if agent not in pibt.goes:
                break
    return pibt.goes

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
    homes: Sequence[Point] | None = None,
) -> dict[int, Point]:
    """Where the agents go that are decided.

    `step` is the cost of a move in each direction and of a wait. Those in `fixed` go where it says; those in `firm`
    hinder and swap with no other. Nothing comes before an agent's cell in `wishes`. With `homes`, one that is pushed
    off its goal gives way where few others have to move.
    """
    standing = {place: agent for agent, place in enumerate(at)}
    swap = ReferenceSwap(grid.neighbours, standing, far)

    def beside(here: Point, but: Point) -> list[int]:
        near = [standing[place] for _, place in legal_steps(grid, here) if place in standing and place != but]
        return [other for other in near if other not in firm]

    def key(agent: int, pusher: int | None, d: int, there: Point) -> tuple[int, int, int]:
        hindered = sum(far(other, there) < far(other, at[other]) for other in beside(at[agent], there))
        is_busy = standing.get(there, agent) != agent
        draw = scramble(scramble(lot ^ int(scramble(agent))) + d) & 255
        cost = 0 if wishes is not None and wishes[agent] == there else far(agent, there)
        here = at[agent]
        is_at_home = far(agent, here) == 0
        if swaps and pusher is not None and is_at_home and there != here and swap.should(pusher, here, agent, there):
            cost += 2 * step[0]
        return cost + step[d], hindered + is_busy, draw

    def pushes(place: Point) -> int:
        """How many agents have to move if another one comes here; 15 if they are more, or if there is no free place."""
        reached = {place}
        for count in range(15):
            if any(there not in standing for there in reached):
                return count
            movers = [there for there in reached if standing[there] not in firm]
            reached = reached.union(there for here in movers for _, there in legal_steps(grid, here))
        return 15

    def key_at_home(agent: int, pusher: int | None, d: int, there: Point) -> tuple[int, ...]:
        hindered = sum(far(other, there) < far(other, at[other]) for other in beside(at[agent], there))
        return (there != at[agent], hindered, pushes(there), *key(agent, pusher, d, there))

    def partner_of(agent: int, best: Point) -> int | None:
        here, ahead = at[agent], standing.get(best)
        if not swaps or best == here:
            return None
        if ahead is not None and ahead not in pibt.goes and swap.should(agent, here, ahead, best):
            return ahead
        return next((other for other in beside(here, best) if swap.should(other, here, agent, best)), None)

    def options(agent: int, pusher: int | None) -> tuple[Sequence[Point], int | None]:
        steps = [*legal_steps(grid, at[agent]), (8, at[agent])]
        places = [there for d, there in sorted(steps, key=lambda step: key(agent, pusher, *step))]
        partner = partner_of(agent, places[0])
        if homes is not None and at[agent] == homes[agent] and int(scramble(lot ^ int(scramble(agent)))) & 3:
            return [there for _, there in sorted(steps, key=lambda step: key_at_home(agent, pusher, *step))], partner
        return (places if partner is None else places[::-1]), partner

    pibt = ReferencePibt(at, options, fixed=fixed)
    for agent in order:
        if agent not in pibt.goes:
            pibt.decide(agent)
            if agent not in pibt.goes:
                break
    return pibt.goes

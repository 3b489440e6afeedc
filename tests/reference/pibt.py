"""PIBT, recursive as printed, for agents whose wishes and options are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wend.maps.grid import Point

Options = Callable[[int, int | None], Sequence[Point]]      # of an agent that another one pushes, or nobody


def settle(
    at: Sequence[Point], order: Sequence[int], wish: Sequence[Point | None], options: Options,
    fixed: dict[int, Point] | None = None,
) -> list[Point]:  # fmt: skip
    """Where everybody goes. `fixed` are agents whose next place is settled beforehand."""
    standing = {point: agent for agent, point in enumerate(at)}
    goes = dict(fixed or {})
    claimed = {point: agent for agent, point in goes.items()}

    def decide(agent: int, pusher: int | None) -> bool:
        for round_ in (0, 1):
            first = wish[agent]
            candidates = ([] if first is None else [first]) if round_ == 0 else options(agent, pusher)
            for there in candidates:
                other = standing.get(there)
                if there in claimed or (other is not None and goes.get(other) == at[agent]):
                    continue
                claimed[there] = agent
                goes[agent] = there
                if other is None or other in goes or decide(other, agent):
                    return True
                del goes[agent]
        goes[agent] = at[agent]
        claimed[at[agent]] = agent
        return False

    for agent in order:
        if agent not in goes:
            decide(agent, None)
    return [goes[agent] for agent in range(len(at))]

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Routes as lists of directions, which agents follow step by step."""

from __future__ import annotations

from wend.kernel import jit


@jit
def drop_cut_routes(tables, agents, routes):
    """Forget the routes that an edit of the map made illegal. Mutates: routes.

    `routes` has `step` (uint8[agents, room] directions), `length` and `done` (int32[agents] moves in it, and made).
    """
    for agent in range(agents.cell.size):
        cell = agents.cell[agent]
        for k in range(routes.done[agent], routes.length[agent]):
            if not tables.moves[cell] >> routes.step[agent, k] & 1:
                routes.length[agent] = 0
                routes.done[agent] = 0
                break
            cell += tables.offset[routes.step[agent, k]]

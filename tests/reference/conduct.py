"""What an agent is doing, in plain Python, from what a world shows of it."""

from __future__ import annotations

from wend import World
from wend.world.conduct import STUCK_AFTER_TICKS


def state_name(world: World, agent: int) -> str:
    """The name of an agent's state, as docs/world.md defines it."""
    order, conduct, agent = world.order_of(agent), world._conduct, world.index_of(agent)
    waited, held_up = (world.ticks - int(since[agent]) for since in (conduct.moved_at, conduct.nearer_at))
    is_heading_there = conduct.nearer_to[agent] == world.grid.cell(*order.goal)
    is_ours = bool(world.state.agents.controlled[agent])
    if is_ours and world.position(order.agent) == order.goal:
        return "arrived" if order.reachable else "unreachable"
    if is_ours and world._dispatch.routes.been_home[agent]:
        return "yielding"
    if is_ours and is_heading_there and min(waited, held_up) >= STUCK_AFTER_TICKS:
        return "stuck"
    return "waiting" if waited or world.ticks == 0 else "moving"

"""PIBT, recursive as printed: what an agent prefers, and whom it may push, is the caller's to say."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Generic, TypeVar

Place = TypeVar("Place", bound=Hashable)

Options = Callable[[int, int | None], tuple[Sequence[Place], int | None]]


class ReferencePibt(Generic[Place]):
    """One tick.

    `options(agent, pusher)` are an agent's next places, best first, and the agent that is to follow it, or None;
    `fixed` are agents whose next place is settled beforehand. `goes` tells where the decided agents go, in the order in
    which they were decided.
    """

    def __init__(
        self,
        at: Sequence[Place],
        options: Options[Place],
        *,
        may_push: Callable[[int, int], bool] = lambda *_: True,
        fixed: Mapping[int, Place] | None = None,
    ) -> None:
        self.at, self.options, self.may_push = at, options, may_push
        self.standing = {place: agent for agent, place in enumerate(at)}
        self.goes = dict(fixed or {})

    def decide(self, agent: int, pusher: int | None = None, root: int | None = None) -> bool:
        root = agent if root is None else root
        here = self.at[agent]
        options, partner = self.options(agent, pusher)
        for there in options:
            other = self.standing.get(there)
            if there in self.goes.values() or (other is not None and self.goes.get(other) == here):
                continue
            pushes = other is not None and other != agent and other not in self.goes
            if pushes and not self.may_push(root, other):
                continue
            self.goes[agent] = there
            if not pushes or self.decide(other, agent, root):
                if partner is not None and partner not in self.goes and here not in self.goes.values():
                    self.goes[partner] = here
                return True
            del self.goes[agent]
        if pusher is not None or here not in self.goes.values():
            self.goes[agent] = here
        return False


class ReferenceSwap(Generic[Place]):
    """When two agents in a corridor exchange places."""

    def __init__(
        self,
        beside: Callable[[Place], Sequence[Place]],
        standing: Mapping[Place, int],
        far: Callable[[int, Place], int],
    ) -> None:
        self.beside, self.standing, self.far = beside, standing, far

    def onward(self, pusher: int, place: Place, back: Place) -> list[Place]:
        """Where one can go on; dead ends of one place with any agent but the pusher in them lead nowhere."""
        return [
            beside
            for beside in self.beside(place)
            if beside != back and (self.standing.get(beside, pusher) == pusher or len(self.beside(beside)) > 1)
        ]

    def should(self, pusher: int, behind: Place, other: int, ahead: Place) -> bool:
        """Whether two agents, `pusher` behind `other`, have to exchange places, and can."""
        return self.must(pusher, behind, other, ahead) and self.can(pusher, behind, ahead)

    def must(self, pusher: int, behind: Place, other: int, ahead: Place) -> bool:
        far = self.far
        while far(pusher, ahead) < far(pusher, behind):
            onward = self.onward(pusher, ahead, behind)
            if len(onward) > 1:
                return False
            if not onward:
                break
            behind, ahead = ahead, onward[0]
        wants_back = far(other, behind) < far(other, ahead)
        return wants_back and (far(pusher, behind) == 0 or far(pusher, ahead) < far(pusher, behind))

    def can(self, pusher: int, behind: Place, ahead: Place) -> bool:
        """Whether the corridor branches somewhere behind."""
        first = behind
        while True:
            onward = self.onward(pusher, behind, ahead)
            if len(onward) != 1 or onward[0] == first:
                return len(onward) > 1
            behind, ahead = onward[0], behind

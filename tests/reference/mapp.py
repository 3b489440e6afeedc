"""MAPP with dicts, lists and sets, in the words of the planner's docstrings.

Nothing is kept up to date: zones, buffers, blanks and who may be solved are worked out anew whenever they are asked
for. The lemmas of the paper are asserted along the way where their premises hold."""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from wend.maps.grid import Grid
from wend.planners.base import Budget
from wend.planners.mapp import rounds
from wend.planners.mapp.known_alternates import alternates_of
from wend.planners.mapp.mapp import Mapp
from wend.planners.mapp.slidable import Instance, Pathfinder

TARGET_MOVES = 32
TUNNEL = 2**32


class Map:
    """A map as a graph of rows and columns, with the marks of a problem."""

    def __init__(self, grid: Grid, targets: set[int], obstacles: set[int], *, through_targets: bool) -> None:
        self.width = grid.width
        self.steps = {cell: self._steps(grid, cell) for cell in grid.free_cells().tolist()}
        self.targets, self.obstacles, self.through_targets = targets, obstacles, through_targets
        self.blocks = self._blocks()

    def _steps(self, grid: Grid, cell: int) -> dict[int, int]:
        x, y = grid.xy(cell)
        around = {0: (x, y - 1), 1: (x + 1, y), 2: (x, y + 1), 3: (x - 1, y)}
        return {d: grid.cell(*point) for d, point in around.items() if grid.is_free(point)}

    def manhattan(self, a: int, b: int) -> int:
        return abs(a % self.width - b % self.width) + abs(a // self.width - b // self.width)

    def distances(self, source: int, without: set[int]) -> dict[int, int]:
        far, queue = {source: 0}, deque([source])
        while queue:
            cell = queue.popleft()
            for beside in self.steps[cell].values():
                if beside not in far and beside not in without:
                    far[beside] = far[cell] + 1
                    queue.append(beside)
        return far

    def joined(self, b: int, a: int, c: int, closed: set[int]) -> bool:
        return c in self.distances(a, {b} | (closed - {a, c}))

    def _blocks(self) -> dict[frozenset[int], int]:
        """The block of every edge: edges that meet in b are of one block if their other ends are joined without b."""
        edges = {frozenset((a, b)) for a in self.steps for b in self.steps[a].values()}
        block = {edge: k for k, edge in enumerate(sorted(edges, key=sorted))}
        for b, around in self.steps.items():
            for a, c in combinations(around.values(), 2):
                if self.joined(b, a, c, set()):
                    old, new = block[frozenset((b, c))], block[frozenset((a, b))]
                    block = {edge: new if label == old else label for edge, label in block.items()}
        return block

    def changes(self, goal: int) -> dict[int, int]:
        """How often a path from each block to the goal must change its block; not counted right before the goal."""
        near = {goal, *self.steps[goal].values()}
        changes = {label: 0 for edge, label in self.blocks.items() if edge & near}
        queue = deque(changes)
        while queue:
            label = queue.popleft()
            cells = {cell for edge, other in self.blocks.items() if other == label for cell in edge}
            for edge, other in self.blocks.items():
                if other not in changes and edge & cells:
                    changes[other] = changes[label] + 1
                    queue.append(other)
        return changes

    # --- alternate paths

    def omega(self, b: int, one: int, other: int, goal: int) -> list[int] | None:
        """Omega around b, from its neighbour in the smaller direction to the one in the larger."""
        one, other = sorted((one, other))
        a, c = self.steps[b][one], self.steps[b][other]
        if not self.joined(b, a, c, set()):
            return None
        marked = self.targets | self.obstacles
        bare = self.detour(b, one, other, set(), set())
        assert bare is not None
        if not marked & set(bare[1:-1]):
            return bare
        if not self.through_targets:
            return self.detour(b, one, other, marked, set())
        free = {a, b, c}.isdisjoint(marked) and self.joined(b, a, c, marked)
        found = self.detour(b, one, other, marked if free else self.obstacles, set() if free else self.targets)
        if found is not None and goal in found[1:-1]:
            found = self.detour(b, one, other, self.obstacles | {goal}, self.targets)
        return found

    def detour(self, b: int, one: int, other: int, closed: set[int], priced: set[int]) -> list[int] | None:
        a, c = self.steps[b][one], self.steps[b][other]
        shapes = [[other, one ^ 2]] if other != one ^ 2 else [
            [side, one ^ 2, one ^ 2, side ^ 2] for side in ((one + 1) % 4, (one + 3) % 4)
        ]  # fmt: skip
        for shape in shapes:
            cells = [a]
            for d in shape:
                cells.append(self.steps[cells[-1]].get(d, -1) if cells[-1] != -1 else -1)
            if -1 not in cells and b not in cells and not (closed | priced) & set(cells[1:-1]):
                return cells
        g, came, done, pushes = {a: 0}, {a: a}, {b}, 0
        queue = [(self.manhattan(a, c), 0, a)]
        while queue:
            _, _, cell = heapq.heappop(queue)
            if cell == c:
                cells = [c]
                while cells[-1] != a:
                    cells.append(came[cells[-1]])
                return cells[::-1]
            if cell in done:
                continue
            done.add(cell)
            for _, beside in sorted(self.steps[cell].items()):
                if beside in done or (beside in closed and beside != c):
                    continue
                cost = g[cell] + 1 + (TARGET_MOVES if beside in priced and beside != c else 0)
                if cost < g.get(beside, 10**9):
                    g[beside], came[beside] = cost, cell
                    pushes += 1
                    heapq.heappush(queue, (cost + self.manhattan(beside, c), -pushes, beside))
        return None

    def toll(self, omega: list[int]) -> int:
        return len((self.targets | self.obstacles) & set(omega[1:-1]))

    # --- paths

    def path(
        self, start: int, goal: int, occupied: set[int], *, blank_first: bool, tunnels: bool
    ) -> tuple[list[int], list[list[int] | None]] | None:
        if start == goal:
            return [start], [None]
        if goal in self.obstacles:
            return None
        far, changes = self.distances(goal, set()), self.changes(goal)
        if start not in far:
            return None
        node: tuple[int, int] = (start, 4)          # a cell, and the direction of the move that led there
        best: dict[tuple[int, int], tuple[int, int]] = {node: (0, 0)}
        came: dict[tuple[int, int], tuple[int, int]] = {}
        done, shut, pushes = {node}, {start}, 0
        queue: list[tuple[int, int, int, tuple[int, int]]] = []
        while True:
            cell, came_by = node
            penalty, g = best[node]
            here_foreign = cell in self.targets and cell != goal
            all_open = not here_foreign
            for d, beside in sorted(self.steps[cell].items()):
                foreign = beside in self.targets and beside != goal
                if d == came_by ^ 2 or beside in self.obstacles or (foreign and not self.through_targets):
                    continue
                if came_by == 4 and blank_first and beside in occupied:
                    continue
                ahead = changes[self.blocks[frozenset((cell, beside))]]
                if ahead > 0 and not tunnels:
                    continue
                paid = penalty + foreign + here_foreign
                if came_by != 4 and beside != goal:
                    omega = self.omega(cell, came_by ^ 2, d, goal)
                    if omega is None:
                        all_open = False
                        if not tunnels:
                            continue
                        paid += TUNNEL
                    else:
                        all_open = all_open and self.toll(omega) == 0
                        paid += self.toll(omega)
                after = (beside, d)
                if beside in shut or after in done or (paid, g + 1) >= best.get(after, (2**62, 0)):
                    continue
                best[after], came[after] = (paid, g + 1), node
                pushes += 1
                heapq.heappush(queue, (paid + ahead * TUNNEL, g + 1 + far[beside], -pushes, after))
            if all_open and came_by != 4 and came[node][0] not in self.targets:
                shut.add(cell)
            while True:
                if not queue:
                    return None
                node = heapq.heappop(queue)[3]
                if node not in done and node[0] not in shut:
                    break
            if node[0] == goal:
                break
            done.add(node)
        nodes = [node]
        while nodes[-1][1] != 4:
            nodes.append(came[nodes[-1]])
        nodes.reverse()
        cells = [cell for cell, _ in nodes]
        assert len(set(cells)) == len(cells), "a path is simple"
        around: list[list[int] | None] = [None] * len(cells)
        for i in range(1, len(cells) - 2):
            around[i] = self.omega(cells[i], nodes[i][1] ^ 2, nodes[i + 1][1], goal)
        return cells, around


@dataclass
class Unit:
    """One unit."""

    name: int
    cell: int
    goal: int | None
    path: list[int] = field(default_factory=list)
    around: list[list[int] | None] = field(default_factory=list)
    slidable: bool = False
    provable: bool = False
    usher: Unit | None = None
    solved: bool = False
    visited: set[int] = field(default_factory=set)
    level: int = 0
    origin: int = 0
    second: int | None = None
    pushes: list[int] = field(default_factory=list)     # where it stood before each push that it has not walked back

    @property
    def last(self) -> int:
        return len(self.path) - 1

    @property
    def index(self) -> int | None:
        return self.path.index(self.cell) if self.cell in self.path else None

    @property
    def home(self) -> bool:
        return self.cell == self.goal

    @property
    def gaps(self) -> list[int]:
        return [i for i in range(1, self.last - 1) if self.around[i] is None]

    @property
    def tau(self) -> int:
        return len(self.gaps)

    @property
    def buffer(self) -> set[int]:
        if not self.gaps:
            return set()
        behind = range(self.gaps[-1] + 2, self.last)
        cells = {self.path[i] for i in behind} | {cell for i in behind for cell in self.around[i] or ()}
        return cells - {self.path[self.gaps[-1]]}

    @property
    def reach(self) -> set[int]:
        """Everything on pi and Omega."""
        return set(self.path) | {cell for omega in self.around for cell in omega or ()}

    @property
    def zone(self) -> set[int]:
        i = self.index
        return {self.cell, self.path[i - 1]} if i is not None and 0 < i < self.last else {self.cell}


class ReferenceMapp:
    """One round of MAPP."""

    def __init__(
        self,
        grid: Grid,
        starts: list[int],
        goals: list[int],
        obstacles: set[int] = frozenset(),  # type: ignore[assignment]
        *,
        target_isolation: bool = True,
        alternate_connectivity: bool = True,
        initial_blank: bool = False,
        later_provable: bool = False,
        turn: str = "one-move",
        counting: bool = True,
        minimal_rollback: bool = False,
        inline_return: bool = False,
        attempt_all: bool = True,
    ) -> None:
        self.counting, self.minimal_rollback, self.inline_return = counting, minimal_rollback, inline_return
        self.later_provable, self.until_stopped = later_provable, turn == "until-stopped"
        self.map = Map(grid, set(goals), set(obstacles), through_targets=target_isolation)
        self.units = [Unit(k, start, goal) for k, (start, goal) in enumerate(zip(starts, goals, strict=True))]
        self.log: list[tuple[int, int, int]] = []
        self.fallbacks = 0
        occupied = set(starts) | set(obstacles)
        for unit in self.units:
            for blank_first in (True, False):
                found = self.map.path(
                    unit.cell, unit.goal, occupied, blank_first=blank_first, tunnels=alternate_connectivity
                )
                if found is not None:
                    unit.path, unit.around = found
                    in_front = self.at(unit.path[1]) if not blank_first and initial_blank else None
                    if in_front is not None and not in_front.home:
                        unit.usher = in_front
                    unit.slidable = (blank_first or unit.usher is not None) and self.kappa(unit, occupied) >= unit.tau
                    break
        self.before = {(u.name, v.name) for u in self.units for v in self.units if u is not v and v.goal in u.reach}
        if not target_isolation:
            for _, v in self.before:
                self.units[v].slidable = False
        self.before |= {(u.usher.name, u.name) for u in self.units if u.usher is not None}
        self.break_cycles()
        self.promise(starts)
        if not attempt_all:
            for unit in self.units:
                if not unit.provable:
                    unit.path, unit.around, unit.slidable = [], [], False
            self.before = {(u, v) for u, v in self.before if self.units[u].path}

    def promise(self, starts: list[int]) -> None:
        """Slidable units are provable, unless one that is not provable stands on their target or is their usher."""
        for unit in self.units:
            unit.provable = unit.slidable
        changed = True
        while changed:
            changed = False
            promised = {unit.name for unit in self.units if unit.provable}
            for unit in self.units:
                if not unit.provable:
                    continue
                if unit.usher is not None and unit.usher.name not in promised:
                    unit.provable = unit.slidable = False
                elif any(v is not unit and starts[v.name] == unit.goal and v.name not in promised for v in self.units):
                    unit.provable = False
                changed = changed or not unit.provable

    def break_cycles(self) -> None:
        while True:
            edges = {(u, v) for u, v in self.before if self.units[u].slidable and self.units[v].slidable}
            closure = set(edges)
            while more := {(a, d) for a, b in closure for c, d in closure if b == c} - closure:
                closure |= more
            both = {(u, v) for u, v in closure if (v, u) in closure}
            if not both:
                return
            for part in {frozenset({u} | {v for w, v in both if w == u}) for u, _ in both}:
                inside = [edge for edge in edges if part.issuperset(edge)]
                ranked = [(sum(u in edge for edge in inside), len(self.units[u].path), u) for u in part]
                self.units[max(ranked)[2]].slidable = False

    # --- the state

    def at(self, cell: int) -> Unit | None:
        return next((unit for unit in self.units if unit.cell == cell), None)

    def kappa(self, unit: Unit, occupied: set[int] | None = None) -> int:
        taken = {other.cell for other in self.units} | self.map.obstacles if occupied is None else occupied
        return len(unit.buffer - taken)

    def level_of(self, unit: Unit) -> int:
        i = unit.index
        if i is None:
            return 0
        if i == unit.last:
            return 2
        ahead = self.at(unit.path[i + 1])
        is_open = ahead is None or (i == 0 and ahead is unit.usher)
        return 2 if is_open and self.kappa(unit) >= unit.tau else 1

    def well_positioned(self, unit: Unit) -> bool:
        return self.level_of(unit) >= unit.level if unit.path else unit.cell == unit.origin

    def move(self, unit: Unit, to: int) -> None:
        assert self.at(to) is None, "a destination is blank"
        assert to in self.map.steps[unit.cell].values(), "a move is one step"
        self.log.append((unit.name, unit.cell, to))
        unit.cell = to
        if to in unit.path:
            unit.visited.add(to)

    def settle(self) -> None:
        settled = True
        while settled:
            settled = False
            for unit in self.units:
                waits = any(not self.units[u].solved for u, v in self.before if v == unit.name)
                guests = any(not self.units[u].solved for u, cell in self.stood if cell == unit.goal and u != unit.name)
                if unit.home and not unit.solved and not waits and not guests:
                    unit.solved = settled = True

    def in_order(self) -> list[Unit]:
        def key(unit: Unit) -> tuple[int, int]:
            i = unit.index
            if i is None:
                return 2**30, unit.name
            return (i - unit.last if self.until_stopped else unit.last - i), unit.name

        def key_of_others(unit: Unit) -> tuple[int, int, int]:
            waits = sum(not self.units[u].solved for u, v in self.before if v == unit.name)
            return (waits if self.until_stopped else 0), *key(unit)

        active = [unit for unit in self.units if not unit.solved]
        waiting = {unit.name: unit for unit in active if unit.slidable}
        first: list[Unit] = []
        while waiting:
            ready = [u for u in waiting.values() if not any(v == u.name and w in waiting for w, v in self.before)]
            best = min(ready, key=key)
            first.append(best)
            del waiting[best.name]
        classes = (
            [unit for unit in first if not unit.home],
            sorted((u for u in active if not u.home and u.path and not u.slidable), key=key_of_others),
            sorted((unit for unit in active if unit.home and unit.path), key=key),
            sorted((unit for unit in active if not unit.path), key=key),
        )
        return [unit for part in classes for unit in part]

    # --- progression

    def held(self, cell: int, above: list[Unit]) -> bool:
        there = self.at(cell)
        if there is not None and there.solved:
            return True
        above = [unit for unit in above if not unit.solved]
        return any(cell in v.zone for v in above) or any(cell in v.buffer and self.kappa(v) <= v.tau for v in above)

    def segment(self, unit: Unit, i: int, above: list[Unit]) -> list[int] | None:
        ahead = unit.path[i + 1]
        omega = unit.around[i]
        if omega is not None:
            cells = omega if omega[0] == ahead else omega[::-1]
            blank = next((k for k, cell in enumerate(cells) if self.at(cell) is None), None)
            found = None if blank is None else cells[: blank + 1]
        else:
            found = self.segment_ahead(unit, i)
        if found is None or any(self.held(cell, above) for cell in found):
            return None
        return found

    def segment_ahead(self, unit: Unit, i: int) -> list[int] | None:
        region = (set(unit.path[i + 1 : unit.last]) | unit.buffer) - {unit.cell, unit.goal}
        came, queue = {unit.path[i + 1]: unit.path[i + 1]}, deque([unit.path[i + 1]])
        while queue:
            cell = queue.popleft()
            if self.at(cell) is None:
                cells = [cell]
                while came[cells[-1]] != cells[-1]:
                    cells.append(came[cells[-1]])
                return cells[::-1]
            for _, beside in sorted(self.map.steps[cell].items()):
                if beside in region and beside not in came:
                    came[beside] = cell
                    queue.append(beside)
        return None

    def advance(self, unit: Unit, above: list[Unit]) -> bool:
        i = unit.index
        if i is None or i == unit.last or unit.path[i + 1] in unit.visited or self.held(unit.path[i + 1], above):
            return False
        ahead = unit.path[i + 1]
        if self.at(ahead) is not None:
            cells = self.segment(unit, i, above) if 0 < i < unit.last - 1 else None
            if cells is None:
                return False
            for k in range(len(cells) - 2, -1, -1):
                pushed = self.at(cells[k])
                assert pushed is not None
                assert not any(cells[k + 1] in v.zone for v in above if not v.solved), "private zones are private"
                pushed.pushes.append(pushed.cell)
                self.move(pushed, cells[k + 1])
                self.stood.add((pushed.name, cells[k + 1]))
        unit.pushes.clear()
        self.move(unit, ahead)
        self.stood.add((unit.name, ahead))
        return True

    def walk_back(self, unit: Unit, above: list[Unit]) -> bool:
        if not unit.pushes or self.at(unit.pushes[-1]) is not None or self.held(unit.pushes[-1], above):
            return False
        self.move(unit, unit.pushes.pop())
        self.stood.add((unit.name, unit.cell))
        return True

    def progress(self, order: list[Unit], *, guaranteed: bool) -> None:
        states = {tuple(unit.cell for unit in self.units)}
        while True:
            changed = False
            for k, unit in enumerate(order):
                may_go = not unit.solved
                while may_go:
                    moved = self.advance(unit, order[:k])
                    moved = moved or (self.inline_return and self.walk_back(unit, order[:k]))
                    if k == 0 and guaranteed:
                        assert moved or unit.home, "the master unit advances until it is home"
                    if moved:
                        changed = True
                        state = tuple(other.cell for other in self.units)
                        repeated = state in states and not self.inline_return
                        assert not repeated, "no global state is repeated in a progression step"
                        states.add(state)
                        if unit.home:
                            self.settle()
                    may_go = moved and self.until_stopped and not unit.solved
            if not changed:
                return

    # --- repositioning

    def lacks_blanks(self, unit: Unit, taken: set[int] | None = None) -> bool:
        return not unit.solved and unit.level == 2 and self.kappa(unit, taken) < unit.tau

    def by_counting(self, began: int, order: list[Unit]) -> bool:
        active = [unit for unit in self.units if not unit.solved]
        count: dict[int, int] = {}
        for cell in [u.cell for u in self.units if u.solved] + [u.origin for u in active]:
            count[cell] = count.get(cell, 0) + 1
        step = self.log[began:]
        for name, _, to in step:
            if not self.units[name].solved:
                count[to] = count.get(to, 0) + 1
        stopped: set[int] = set()
        for e, (name, source, _) in reversed(list(enumerate(step))):
            unit = self.units[name]
            if unit.solved or name in stopped:
                continue
            i = unit.index
            out_of_the_way = count[unit.cell] == 1 and all(u.second != unit.cell for u in active if u is not unit)
            next_is_clear = unit.level < 2 or i is None or i == unit.last or count.get(unit.path[i + 1], 0) == 0
            lacked = any(unit.cell in v.buffer and self.lacks_blanks(v) for v in active if v is not unit)
            if unit.path and self.level_of(unit) >= unit.level and out_of_the_way and next_is_clear and not lacked:
                stopped.add(name)
                for cell in [unit.origin] + [to for other, _, to in step[:e] if other == name]:
                    count[cell] -= 1                    # it will not come by there any more
                continue
            if self.at(source) is not None:
                return False
            count[unit.cell] -= 1
            self.move(unit, source)
        return all(self.well_positioned(unit) for unit in order if not unit.solved)

    def minimally(self, began: int, order: list[Unit]) -> bool:
        """Choose for every unit how many of its moves it keeps, then undo the others, the last one first."""
        step = list(enumerate(self.log[began:]))
        moves = {u.name: [(e, source, to) for e, (name, source, to) in step if name == u.name] for u in self.units}
        kept = {u.name: len(moves[u.name]) for u in self.units}
        undone: list[tuple[int, int]] = []          # move, and where it leads back to

        def cell(unit: Unit) -> int:
            if unit.solved or not moves[unit.name]:
                return unit.cell
            return moves[unit.name][kept[unit.name] - 1][2] if kept[unit.name] else unit.origin

        def must_go_back(unit: Unit) -> bool:
            if unit.solved or kept[unit.name] == 0:
                return False
            here, arrival = cell(unit), moves[unit.name][kept[unit.name] - 1][0]
            if not unit.path or any(back == here and e < arrival for e, back in undone):
                return True
            if any(kept[u.name] == 0 and u.level == 2 and u.second == here for u in order if not u.solved):
                return True
            taken = {cell(other) for other in self.units} | self.map.obstacles
            if any(here in v.buffer and kept[v.name] == 0 and self.lacks_blanks(v, taken) for v in order):
                return True
            level = 1 if here in unit.path else 0
            ahead = unit.path[unit.path.index(here) + 1] if level and here != unit.path[-1] else None
            waits = unit.usher is not None and unit.path[0] == here and cell(unit.usher) == ahead
            is_open = ahead is not None and (ahead not in taken or waits)
            advances = is_open and self.kappa(unit, taken) >= unit.tau
            return (2 if here == unit.path[-1] or advances else level) < unit.level

        changed = True
        while changed:
            changed = False
            for unit in order:
                while must_go_back(unit):
                    changed = True
                    kept[unit.name] -= 1
                    undone.append(moves[unit.name][kept[unit.name]][:2])
        for e, (name, source, _) in reversed(step):
            if (e, source) in undone:
                if self.at(source) is not None:
                    return False
                self.move(self.units[name], source)
        return all(self.well_positioned(unit) for unit in order if not unit.solved)

    def by_reversing(self, began: int, order: list[Unit]) -> None:
        step = self.log[began:]
        while not all(self.well_positioned(unit) for unit in order if not unit.solved):
            name, source, _ = step.pop()
            if not self.units[name].solved:
                self.move(self.units[name], source)

    def reposition(self, began: int, order: list[Unit]) -> None:
        ended, cells = len(self.log), [unit.cell for unit in self.units]
        for wanted, undo in ((self.minimal_rollback, self.minimally), (self.counting, self.by_counting)):
            if wanted:
                if undo(began, order):
                    return
                self.fallbacks += 1
                del self.log[ended:]
                for unit, cell in zip(self.units, cells, strict=True):
                    unit.cell = cell
        self.by_reversing(began, order)

    # --- Algorithm 1

    def play(self) -> list[tuple[int, int, int]]:
        all_sure = all(unit.provable or not unit.path for unit in self.units)
        seen: set[tuple[int, ...]] = set()
        while True:
            solved, began = sum(unit.solved for unit in self.units), len(self.log)
            self.stood = {(unit.name, unit.cell) for unit in self.units if not unit.solved}
            self.settle()
            order = self.in_order()
            for unit in order:
                i = unit.index
                unit.origin, unit.level, unit.visited, unit.pushes = unit.cell, self.level_of(unit), {unit.cell}, []
                unit.second = unit.path[i + 1] if i is not None and i < unit.last else None
                assert not all_sure or not unit.path or unit.level == 2, "a step begins well positioned"
            if all(unit.solved or unit.home for unit in self.units):
                return self.log
            guaranteed = all_sure and order[0].provable and not order[0].home
            self.progress(order, guaranteed=guaranteed)
            got_on = sum(unit.solved for unit in self.units) > solved
            assert got_on or not guaranteed, "every progression step solves a unit"
            active = [unit for unit in self.units if not unit.solved]
            if all(unit.home for unit in active) or (not got_on and not any(unit.slidable for unit in active)):
                return self.log
            if got_on:
                seen.clear()
            self.reposition(began, order)
            for unit in self.units if self.later_provable else []:
                goes_last = all(self.units[u].solved for u, v in self.before if v == unit.name)
                if not unit.solved and goes_last and self.level_of(unit) == 2:
                    unit.slidable = True
            state = tuple(unit.cell for unit in self.units)
            if state in seen:
                return self.log
            seen.add(state)


# --- the kernels, and how their moves are checked


def solve(grid: Grid, starts: list[int], goals: list[int], obstacles: list[int], **parameters: Any) -> Any:
    """What the kernels make of a problem."""
    planner = Mapp(**parameters)
    at, to, others = (np.array(cells, np.int32) for cells in (starts, goals, obstacles))
    pathfinder = Pathfinder(alternates_of(grid, planner.alternates_folder or None))
    return rounds.solve(planner, pathfinder, Instance(at, rounds.own_goals(at, to), others), Budget())


def replay(grid: Grid, starts: list[int], unit: list[int], to: list[int]) -> list[int]:
    """Where all units end, after checking that every move is one step into a blank."""
    at = list(starts)
    for u, cell in zip(unit, to, strict=True):
        (x, y), (x2, y2) = grid.xy(at[u]), grid.xy(cell)
        assert abs(x - x2) + abs(y - y2) == 1
        assert grid.is_free((x2, y2))
        assert cell not in at
        at[u] = cell
    return at

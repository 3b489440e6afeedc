# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""One step of LaCAM: a node, the next of its constraints, and the configuration that PIBT proposes under it.

    paper (Okumura, AAAI 2023)                          here
    low-level search: constraints, breadth first        fix_units, continue_constraint
    configuration generator: PIBT under constraints     propose

The caller passes a bundle `search` that has at least

    tables, tree, decisions     the map, the configurations so far, and who goes where next
    agents, occupant            the agents and who stands where, in the configuration at hand
    units                       how many of the agents there are in a node's order; all others are decided beforehand

Deviations
- A constraint that lets two units collide or exchange cells is never made, since nothing that continues it is legal.
- Whoever stands on a cell that is fixed for another unit decides first.
"""

from __future__ import annotations

from wend.kernel import NO_AGENT, jit
from wend.planners.lacam.tree import ROOT, add_constraint
from wend.search.pibt import decide, fix, forget_decisions, may_push_any
from wend.search.preferences import settle

_STAY = 8       # of the nine things a unit can do


@jit
def take_up(search, node):
    """Let the units stand where they do in a node, undecided. Mutates: search.agents, occupant, decisions."""
    cells, occupant, tree = search.agents.cell, search.occupant, search.tree
    forget_decisions(search.decisions)
    for place in range(search.units):
        occupant[cells[tree.order[node, place]]] = NO_AGENT
    for place in range(search.units):
        unit = tree.order[node, place]
        cells[unit] = tree.cell[node, unit]
        occupant[cells[unit]] = unit


@jit
def fix_units(search, constraint):
    """Let units go where a constraint says; return how many. Mutates: search.decisions."""
    tree, depth = search.tree, 0
    while constraint != ROOT:
        fix(search.decisions, tree.fixed_unit[constraint], tree.fixed_cell[constraint])
        constraint = tree.fixed_after[constraint]
        depth += 1
    return depth


@jit
def continue_constraint(search, node, constraint, depth, lot):
    """Add the constraints that also fix the next unit in a node's order. Mutates: search.tree.

    The units of the constraint itself, and no others, are decided.
    """
    tree, tables, decisions = search.tree, search.tables, search.decisions
    if depth == search.units:
        return
    unit = tree.order[node, depth]
    here = search.agents.cell[unit]
    stride = 1 if lot & 1 else 2
    for k in range(9):
        d = (lot + k * stride) % 9
        if d != _STAY and not tables.moves[here] >> d & 1:
            continue
        there = here + tables.offset[d] if d != _STAY else here
        other = search.occupant[there]
        if decisions.taken[there] != NO_AGENT:
            continue
        if other != NO_AGENT and decisions.decided[other] and decisions.target[other] == here:
            continue
        add_constraint(tree, node, constraint, unit, there)


@jit
def propose(search, scene, node, constraint, rank):
    """Let PIBT find a next configuration for all units that are not decided. Mutates: decisions, and what `rank` does.

    1 if it does, 0 if not, or a negative answer of `rank`, which lists the next cells of a unit.
    """
    tree, decisions, occupant = search.tree, search.decisions, search.occupant
    while constraint != ROOT:
        other = occupant[tree.fixed_cell[constraint]]
        if other != NO_AGENT and not decisions.decided[other]:
            answer = decide(decisions, scene, other, rank, may_push_any)
            if answer < 0 or not decisions.decided[other]:
                return min(answer, 0)
        constraint = tree.fixed_after[constraint]
    return settle(scene, decisions, tree.order[node, : search.units], rank)

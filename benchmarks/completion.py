"""Do all agents of a crowd get home? Weave on 60 shipped scenarios of the MAPF benchmark, with 200 to 1,000 agents.

It takes minutes and measures no time, so it runs only when named. w9-pathfinding's WHCA* gets the same problems; it
gives up as soon as one agent finds no path.
"""

from __future__ import annotations

from benchmarks.cooperative import agents_home, mapf_map, mapf_problem, solved, w9_whca
from benchmarks.measure import Row

CROWDS = (
    ("den312d", 200), ("den312d", 400), ("lak303d", 300), ("lak303d", 600), ("lak303d", 1_000), ("ost003d", 1_000),
)  # fmt: skip
SCENARIOS = range(1, 11)
MOST = 0.03     # share of the instances that may be incomplete


def run() -> list[Row]:
    """Instances that end with an agent that is not home, for each crowd and in total."""
    rows = []
    missed, their_missed = 0, 0
    for name, agents in CROWDS:
        where, grid = mapf_map(name)
        theirs = w9_whca(grid)
        problems = [mapf_problem(name, agents=agents, scenario=scenario) for scenario in SCENARIOS]
        ours = sum(solved("weave", problem).home_count() < agents for problem in problems)
        others = sum(agents_home(problem, theirs(problem)) < agents for problem in problems)
        rows.append(_row(f"{agents} agents", ours, others, len(problems), where))
        missed, their_missed = missed + ours, their_missed + others
    instances = len(CROWDS) * len(SCENARIOS)
    return [*rows, _row("all", missed, their_missed, instances, "", at_most=int(MOST * instances))]


def _row(what: str, ours: int, theirs: int, instances: int, where: str, *, at_most: float | None = None) -> Row:
    title = f"Weave, {what}: not complete (w9-pathfinding's WHCA*(16): {theirs})"
    return Row(title, f"of {instances}", ours, where=where, at_most=at_most)

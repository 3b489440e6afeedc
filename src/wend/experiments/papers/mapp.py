"""The job of MAPP's experiments. MAPP plans everything in its first tick, so only that tick is run.

Carrying out a plan for 2,000 units takes up to 100,000 ticks and shows nothing new; the tests carry plans out. Where
MAPP moves only the units that it promises to bring home, the others are taken off the map, as Wang and Botea do (JAIR
2011, section 9.1). Nothing is known about a map beforehand, unless the spec says `rehearse`. Other algorithms run as
usual.
"""

from __future__ import annotations

from wend.experiments.jobs import load_grid, load_problem, run_problem
from wend.experiments.spec import Job
from wend.experiments.store import Row
from wend.planners.mapp.known_alternates import forget_maps
from wend.planners.mapp.mapp import slidable_units
from wend.problems.problem import Problem


def run(job: Job) -> Row:
    """Completion and distance are the plan's; shares are of all units, those that were taken off the map included."""
    problem = load_problem(load_grid(job["map"], job["connectivity"], job["corner_cutting"]), job)
    if job["algorithm"] != "mapp":
        return run_problem(job, problem)
    share = 1.0
    if not job["parameters"].get("attempt_all", True):
        kept = slidable_units(problem, **job["parameters"])
        problem, share = Problem(problem.grid, problem.starts[kept], problem.goals[kept]), float(kept.mean())
    forget_maps()
    row = run_problem({**job, "limits": {**job["limits"], "max_ticks": 1}}, problem)
    home = share * row["planned_rate"]
    return row | {
        "provable_rate": share * row["provable_rate"],
        "planned_rate": home,
        "completion_rate": home,
        "all_home": float(home == 1),
        "distance": row["planned_moves"],
    }

"""Making the report of an experiment: what its results say, beside what the paper says.

`make_report` reads the results of one scale and works out everything that is shown: means with confidence intervals for
the spec's figures and tables, our values of the paper's numbers, and whether its claims hold.
"""

from __future__ import annotations

from wend.errors import FormatError, ParameterError, UnknownNameError
from wend.experiments.findings import Failure, Report
from wend.experiments.results import Results
from wend.experiments.sheets import comparison, make_figure, make_table
from wend.experiments.spec import SCALES, Spec
from wend.experiments.store import Store
from wend.experiments.verdicts import rule

FAILURES_LISTED = 10


def make_report(spec: Spec, store: Store, *, scale: str | None = None, baseline: str | None = None) -> Report:
    """Work out what the results of one scale say.

    Without a scale it is the largest that is complete, or else the one that is most complete. A baseline, by default
    the spec's, is a label or the name of an algorithm; tables then show differences to it.
    """
    store.check(spec.store)
    scale = _fullest_scale(spec, store) if scale is None else scale
    jobs = spec.jobs(scale)
    label = _baseline(spec, spec.baseline if baseline is None else baseline)
    results = Results(spec, store, jobs)
    errors = results.ask(
        "SELECT concat(label, ' on ', map, ', ', agents, ' agents, instance ', instance), error "
        "FROM results WHERE error IS NOT NULL AND NOT is_foreign",
        "errors",
    )
    ended = results.ask(
        "SELECT stopped_by, count(*) FROM results WHERE NOT is_foreign GROUP BY 1 ORDER BY count(*) DESC, 1", "ends"
    )
    ((done, illegal),) = results.ask(
        "SELECT count(DISTINCT id) FILTER (NOT is_foreign), count(DISTINCT id) FILTER (violations > 0) FROM results",
        "counts",
    )
    others = results.ask(
        "SELECT label, count(DISTINCT id) FROM results WHERE is_foreign GROUP BY 1 ORDER BY 1", "other solvers"
    )
    return Report(
        spec=spec,
        scale=scale,
        jobs=len({job["id"] for job in jobs}),
        done=done,
        failed=len(errors),
        illegal=illegal,
        others={str(label): int(count) for label, count in others},
        versions=results.distinct("wend_version"),
        commits=results.distinct('"commit"'),
        cpus=results.distinct("cpu"),
        stopped_by={str(limit): int(count) for limit, count in ended},
        baseline=label,
        figures=[exhibit for figure in spec.figures for exhibit in make_figure(results, figure)],
        tables=[exhibit for table in spec.tables for exhibit in make_table(results, table, label)],
        numbers=[comparison(results, number) for number in spec.numbers],
        claims=rule(results, spec.claims),
        failures=[Failure(str(job), str(error)) for job, error in errors[:FAILURES_LISTED]],
    )


def _fullest_scale(spec: Spec, store: Store) -> str:
    """The largest scale of which all jobs are done, or else the one with the largest share done."""
    if not spec.scales:
        raise FormatError(spec.name, "it has no scales, so there is nothing to report")
    done = store.done()
    shares = {}
    for name in sorted(spec.scales, key=SCALES.index):
        ids = {job["id"] for job in spec.jobs(name)}
        shares[name] = len(ids & done) / len(ids) if ids else 0.0
    complete = [name for name, share in shares.items() if share == 1]
    return complete[-1] if complete else max(shares, key=lambda name: shares[name])


def _baseline(spec: Spec, wanted: str) -> str:
    """The label that a baseline means."""
    chosen = spec.contenders()
    labels = {algorithm.label for algorithm in chosen}
    if not wanted or wanted in labels:
        return wanted
    of_name = [algorithm.label for algorithm in chosen if algorithm.name == wanted]
    if len(of_name) > 1:
        raise ParameterError(f"the baseline {wanted!r} may be any of {', '.join(of_name)}: name one of them")
    if of_name:
        return of_name[0]
    raise UnknownNameError("baseline", wanted, sorted(labels | {algorithm.name for algorithm in chosen}))

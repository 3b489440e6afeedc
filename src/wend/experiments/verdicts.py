"""Whether the claims of a paper hold, fail, or are left undecided by the noise of our results.

A claim is a question in SQL with a yes or no for an answer, and the answer might be another one had other problems been
drawn. So it is asked again about resamples of the results (the bootstrap): problems are drawn with replacement from
those that were run, and all runs on a problem go together, so that algorithms stay compared on the same ones. This goes
on until Wilson's interval of the share that agrees lies on one side of 95 %, or RESAMPLES are made.

What is drawn is an instance on a map, in all its sizes. Maps that differ in their seed alone are draws too; other maps
are the ones that the paper names, and each keeps its share. Where a map has a single instance, its sizes are drawn
instead, unless they are parts of one scenario. Of n draws a resample takes n - 1, which gives a mean of few draws the
spread that it has (Rao and Wu 1988).
"""

from __future__ import annotations

import dataclasses
import re
import time
from collections import defaultdict
from collections.abc import Generator, Sequence
from contextlib import closing
from typing import Any

import numpy as np
import pyarrow as pa

from wend.errors import FormatError
from wend.experiments.estimates import wilson
from wend.experiments.findings import FAILS, HOLDS, UNDECIDED, Ruling
from wend.experiments.results import Keys, Results
from wend.experiments.spec import Claim

RESAMPLES = 200                 # at most ...
FEWEST_RESAMPLES = 40           # ... and at least
CERTAIN = 0.95                  # the share of resamples that must agree
RESAMPLING_SECONDS = 60.0       # that the resamples of one claim may take

Unit = list[tuple[Any, ...]]    # what is drawn together: map, agents and instance of some problems

_SEED_OF_MAP = re.compile(r"(?<=[:,])seed=[^,]*,?")


def rule(results: Results, claims: Sequence[Claim]) -> list[Ruling]:
    """Judge each claim."""
    rulings = [_as_answered(claim, _answer(results, claim)) for claim in claims]
    open_ = [k for k, ruling in enumerate(rulings) if ruling.answer is not None and not ruling.claim.exact]
    for k, ruling in zip(open_, _resampled(results, [rulings[k] for k in open_]), strict=True):
        rulings[k] = ruling
    return rulings


def _answer(results: Results, claim: Claim) -> bool | None:
    place = f"claim {claim.sentence!r}"
    answer = results.ask(claim.sql, place)
    if len(answer) != 1 or len(answer[0]) != 1 or type(answer[0][0]) not in (bool, type(None)):
        raise FormatError(results.spec.name, f"{place}: its SQL must answer with one boolean, not {answer[:3]}")
    found: bool | None = answer[0][0]
    return found


def _as_answered(claim: Claim, answer: bool | None) -> Ruling:
    """The ruling if nothing is resampled: an exact claim is decided, any other is not."""
    if answer is None:
        return Ruling(claim, None)
    decided = HOLDS if answer else FAILS
    return Ruling(claim, decided if claim.exact else UNDECIDED, answer)


def _resampled(results: Results, rulings: Sequence[Ruling]) -> list[Ruling]:
    """The rulings once the resamples are asked, each claim until it is settled."""
    strata = _strata(results)
    votes = [_Votes(ruling) for ruling in rulings]
    if votes and any(len(units) > 1 for units in strata):
        with closing(_resamples(results, strata)) as resamples:
            for _ in resamples:
                for vote in votes:
                    if not vote.is_settled():
                        vote.ask(results)
                if all(vote.is_settled() for vote in votes):
                    break
    return [vote.ruling() for vote in votes]


class _Votes:
    """What the resamples say about one claim."""

    def __init__(self, ruling: Ruling) -> None:
        self.before = ruling
        self.answers: list[bool | None] = []
        self.seconds = 0.0

    def ask(self, results: Results) -> None:
        """Ask the resample that stands in the place of the results."""
        claim, began = self.before.claim, time.perf_counter()
        self.answers.append(_answer(results, claim))
        self.seconds += time.perf_counter() - began
        if self.seconds > RESAMPLING_SECONDS:
            reason = f"its SQL takes more than {RESAMPLING_SECONDS:g} s on {len(self.answers)} resamples"
            raise FormatError(results.spec.name, f"claim {claim.sentence!r}: {reason}")

    def is_settled(self) -> bool:
        """Whether further resamples would hardly change the verdict."""
        silent = self.answers.count(None)
        answered = len(self.answers) - silent
        if answered < FEWEST_RESAMPLES:
            return silent > RESAMPLES / 2
        low, high = wilson(self.answers.count(self.before.answer), answered)
        return low >= CERTAIN or high < CERTAIN

    def ruling(self) -> Ruling:
        """The verdict: that of all runs if enough resamples agree, and if at least half of them have an answer."""
        answered = len(self.answers) - self.answers.count(None)
        if answered == 0 or answered < len(self.answers) / 2:
            return self.before
        decided = HOLDS if self.before.answer else FAILS
        is_certain = self.answers.count(self.before.answer) / answered >= CERTAIN
        return dataclasses.replace(
            self.before,
            verdict=decided if is_certain else UNDECIDED,
            borne_out=self.answers.count(True) / answered,
            resamples=answered,
        )


def _strata(results: Results) -> list[list[Unit]]:
    """What can be drawn, for each family of maps."""
    families: defaultdict[str, defaultdict[Keys, Unit]] = defaultdict(lambda: defaultdict(list))
    for problem in results.ask("SELECT DISTINCT map, agents, instance FROM results ORDER BY ALL", "problems"):
        map, _, instance = problem
        families[_SEED_OF_MAP.sub("", map)][map, instance].append(problem)
    strata = [list(units.values()) for units in families.values()]
    are_parts = bool(results.spec.problem.scen)     # a size is the first agents of the scenario
    return [
        [[problem] for problem in units[0]] if len(units) == 1 and not are_parts else units for units in strata
    ]


def _resamples(results: Results, strata: Sequence[Sequence[Unit]]) -> Generator[None]:
    """Put one resample after the other in the place of the results, and the results back in the end.

    A problem that is drawn twice counts as two: the draws number the instances anew.
    """
    database = results.database
    units = [unit for stratum in strata for unit in stratum]
    rows = [(*problem, number) for number, unit in enumerate(units) for problem in unit]
    names = ("map", "agents", "instance", "unit")
    database.register("units", pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))))
    database.register("draws", _draws([len(stratum) for stratum in strata]))
    database.execute("CREATE TEMP TABLE pool AS SELECT * FROM results JOIN units USING (map, agents, instance)")
    database.execute("CREATE TEMP TABLE drawn AS SELECT * FROM draws ORDER BY resample")
    database.execute("ALTER TABLE results RENAME TO all_results")
    database.execute(
        "CREATE TEMP VIEW results AS SELECT pool.* EXCLUDE (unit) REPLACE (draw AS instance) "
        "FROM pool JOIN drawn USING (unit) WHERE resample = getvariable('resample')"
    )
    try:
        for resample in range(RESAMPLES):
            database.execute(f"SET VARIABLE resample = {resample}")
            yield
    finally:
        database.execute("DROP VIEW results")
        database.execute("ALTER TABLE all_results RENAME TO results")


def _draws(sizes: Sequence[int]) -> pa.Table:
    """Which units each resample holds; those of a stratum are numbered in turn, and so are the draws of a resample."""
    generator = np.random.default_rng(0)
    firsts = np.cumsum([0, *sizes[:-1]])
    units = np.concatenate(
        [
            first + generator.integers(size, size=(RESAMPLES, max(size - 1, 1)))
            for first, size in zip(firsts, sizes, strict=True)
        ],
        axis=1,
    )
    resample, draw = np.indices(units.shape)
    return pa.table({"resample": resample.ravel(), "unit": units.ravel(), "draw": draw.ravel()})

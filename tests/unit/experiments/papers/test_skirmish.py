from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from wend.experiments.papers.skirmish import enemies_of, fight, rank_sum, skirmish
from wend.experiments.spec import load_spec
from wend.problems.scenarios import MARKER_SCENARIOS, marker_scenario


@pytest.mark.small
def test_the_rank_sum_test_gives_known_values() -> None:
    # Hollander and Wolfe (1973), p. 69: permeability constants of the human chorioamnion; one-sided p 0.1272.
    at_term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
    earlier = [1.15, 0.88, 0.90, 0.74, 1.21]
    assert rank_sum(at_term, earlier).p == pytest.approx(2 * 0.1272, abs=1e-4)
    apart = rank_sum(range(10), range(10, 20))
    assert apart.p == pytest.approx(2 / math.comb(20, 10))
    assert apart.effect == pytest.approx(3.7796 / math.sqrt(20), abs=1e-4)      # Z = 50 / sqrt(175)


@pytest.mark.small
def test_the_rank_sum_test_counts_ties_exactly() -> None:
    one, other = [1, 1, 2, 4], [2, 3, 3, 4, 4]
    both = one + other
    rank = [sum(v < w for v in both) + (sum(v == w for v in both) + 1) / 2 for w in both]
    expected = sum(rank) * len(one) / len(both)
    off = abs(sum(rank[:4]) - expected)
    deals = list(itertools.combinations(rank, 4))
    extreme = sum(abs(sum(deal) - expected) >= off - 1e-9 for deal in deals)
    assert rank_sum(one, other).p == pytest.approx(extreme / len(deals))


@pytest.mark.small
def test_samples_that_are_all_alike_do_not_differ() -> None:
    same = rank_sum([3.0] * 5, [3.0] * 5)
    assert (same.p, same.effect) == (1.0, 0.0)


@pytest.mark.small
@pytest.mark.parametrize("name", MARKER_SCENARIOS)
def test_nine_enemies_stand_on_free_cells_beside_or_behind_the_obstacle(name: str) -> None:
    group = marker_scenario(name)
    enemies = enemies_of(group)
    assert len(set(enemies)) == 9
    assert all(group.grid.is_free(place) for place in enemies)
    top = int(np.nonzero(~group.grid.passable)[0].min())
    assert all(group.target[1] < y <= top + 2 for _, y in enemies)


def test_map_marker_is_slower_without_enemies_and_loses_fewer_to_them() -> None:
    """The signs of Table II that the runs of the spec show, in the first four of them."""
    for name in ("chinese-wall", "boulder"):
        marked, plain = fight(name, 0.90, 0.75, 4), fight(name, 1.0, 1.0, 4)
        assert np.mean(marked["free_seconds"]) > np.mean(plain["free_seconds"])
        assert np.mean(marked["casualties"]) < np.mean(plain["casualties"])


def test_a_job_returns_what_the_spec_measures() -> None:
    spec = load_spec("marker/skirmish")
    for job in spec.jobs("quick")[:2]:
        row = skirmish({**job, "parameters": {**job["parameters"], "runs": 2}})
        missing = set(spec.metrics) - set(row)
        assert all(name.endswith(("_p", "_effect")) for name in missing)
        assert bool(missing) == (job["label"] == "A*")

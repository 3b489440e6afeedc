"""Within a budget: the searches of planners whose agents follow whole paths, and rough ones until these are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.kernel import FOUND, OUT_OF_BUDGET, OUT_OF_SPACE
from wend.kernel.allowance import spent
from wend.maps.terrain import GridTables
from wend.planners.base import Agents, Budget
from wend.search.paths import with_space
from wend.search.rough_paths import MOST, RoughPaths


def search_paths(
    kept: Any,
    search: Callable[[Any, int], int],
    begin: Callable[[Agents, Any], None],
    rough: RoughPaths,
    tables: GridTables,
    agents: Agents,
    occupant: NDArray[np.int32],
    budget: Budget,
) -> tuple[Any, bool]:
    """Search what agents need, within the budget; return what is kept, which may have grown, and whether all is found.

    `kept` is a bundle with `paths`, `rough` and `turns` (search/paths.py, rough_paths.py and turns.py).
    `search` lets agents search by turns, within so many expansions, and answers FOUND, OUT_OF_BUDGET or OUT_OF_SPACE.
    Where half of the budget does not suffice, the other half goes into rough paths first: `begin` notes which agents
    need one (`kept.rough.begin`).
    """
    limit = budget.slice() // 2 if budget.is_limited else budget.slice()
    answer, looks = OUT_OF_BUDGET, budget.is_limited
    while answer != FOUND and (limit or looks):
        before = spent(kept.turns.allowance)
        answer = search(kept, limit)
        budget.spend(spent(kept.turns.allowance) - before)
        if answer == OUT_OF_SPACE:
            kept = kept._replace(paths=with_space(kept.paths))
        elif answer == OUT_OF_BUDGET and looks:
            looks = False
            begin(agents, kept)
            paths, made = rough.look_ahead(tables, agents, occupant, kept.paths, kept.rough, min(budget.slice(), MOST))
            if paths is not kept.paths:                 # they have grown
                kept = kept._replace(paths=paths)
            budget.spend(made)
        limit = budget.slice()
    return kept, answer == FOUND

"""Sentinels, and what a search may answer. Each is named once, here.

Reasons for having no answer are negative, so that one value is a distance, a count or a cell, or else such a reason.
"""

from __future__ import annotations

NO_AGENT = -1
NO_CELL = -1

FOUND = 1
UNREACHABLE = -1        # there is no path; also what a table of distances holds for such a cell
OUT_OF_BUDGET = -2      # not known yet: the allowance of expansions is used up; call again with more
OUT_OF_SPACE = -3       # not known yet: an array is full; let it grow and call again

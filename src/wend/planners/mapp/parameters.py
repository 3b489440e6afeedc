"""The parameters of MAPP. Those marked (ours) go beyond the paper."""

from __future__ import annotations

from dataclasses import dataclass

from wend.planners.base import Planner, parameter


@dataclass
class MappParameters(Planner):
    """MAPP, with all of its extensions or any of them."""

    target_isolation: bool = parameter(True, "relax target isolation (TI): paths may cross the targets of others")
    alternate_connectivity: bool = parameter(True, "relax alternate connectivity (AC): paths may lead through tunnels")
    initial_blank: bool = parameter(False, "relax the initial blank: units may wait for the one in front (ours)")
    later_provable: bool = parameter(False, "units that become provable on the way go before the others (ours)")
    turn: str = parameter(
        "one-move", "a unit's turn: one move, nearest first (the paper), or until it is stopped, farthest first (ours)",
        choices=("one-move", "until-stopped"),
    )  # fmt: skip
    counting: bool = parameter(True, "undo each unit's moves only as far as it must (RC), not all in reverse order")
    minimal_rollback: bool = parameter(False, "undo even fewer moves: choose beforehand which ones (ours)")
    inline_return: bool = parameter(False, "units that were pushed walk back as soon as they can (ours)")
    attempt_all: bool = parameter(True, "move the units that are not provable too, after the others")
    rounds: int = parameter(20, "times that all units may be planned anew when none gets on; 1: the paper", minimum=1)
    needless: str = parameter(
        "shorten", "moves that no unit needs: keep them, trim excursions, or shorten every path (ours)",
        choices=("keep", "trim", "shorten"),
    )  # fmt: skip
    alternates_folder: str = parameter("", "keep the alternate paths of maps in this folder; empty: in memory only")
    patience_ticks: int = parameter(16, "ticks that an agent outside the plan may hold it up", minimum=1)

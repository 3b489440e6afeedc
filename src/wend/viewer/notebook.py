"""What notebooks show of a run: the replay page, in a frame that needs neither a server nor another file.

The page is part of the notebook's output, so it still plays when the notebook is saved and opened elsewhere.
"""

from __future__ import annotations

from html import escape

from wend.viewer.replay import replay_page
from wend.world.trace import Trace

MOST_BYTES = 2_000_000      # of a page in a notebook; Jupyter itself refuses to pass on much more at a time
_LOOKS = "width: 100%; height: 640px; border: 1px solid; border-radius: 8px"


def framed(trace: Trace) -> str:
    """The replay page in a frame; of a run that is too large for a notebook, where to see it instead."""
    page = replay_page(trace)
    if len(page) > MOST_BYTES:
        reason = f"its page has {len(page) / 1e6:.1f} MB, and notebooks are given at most {MOST_BYTES / 1e6:.0f} MB"
        advice = "save(path) keeps the run, and wend view PATH plays it"
        return f"<p>{escape(repr(trace))}<br>This run is not shown here: {reason}. {advice}.</p>"
    return f'<iframe srcdoc="{escape(page)}" sandbox="allow-scripts" title="Wend replay" style="{_LOOKS}"></iframe>'

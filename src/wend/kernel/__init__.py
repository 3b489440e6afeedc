"""What every kernel stands on: the jit decorator, sentinels and answer codes, declared arrays, allowances, threads."""

from wend.kernel.chance import scramble
from wend.kernel.codes import FOUND, NO_AGENT, NO_CELL, OUT_OF_BUDGET, OUT_OF_SPACE, UNREACHABLE
from wend.kernel.compiling import jit

__all__ = ["FOUND", "NO_AGENT", "NO_CELL", "OUT_OF_BUDGET", "OUT_OF_SPACE", "UNREACHABLE", "jit", "scramble"]

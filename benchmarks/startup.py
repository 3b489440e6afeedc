"""How long a fresh process takes to be ready, with kernels and bytecode cached."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

from benchmarks.measure import Row, best_seconds

COMMANDS = {
    "numba": ("import numba",),
    "import": ("import wend; wend.World",),
    "help": ("from wend.cli import main; main()", "--help"),
}


def run() -> list[Row]:
    """Seconds of a process that imports the library and of one that prints the help, compared with `import numba`."""
    best = best_seconds({name: partial(_python, *words) for name, words in COMMANDS.items()})
    return [
        Row("import wend; wend.World", "s", best["import"], "import numba", best["numba"], at_most=0.7),
        Row("wend --help", "s", best["help"], "import numba", best["numba"], at_most=0.5),
    ]


def _python(*words: str) -> None:
    subprocess.run([sys.executable, "-c", *words], check=True, stdout=subprocess.DEVNULL)

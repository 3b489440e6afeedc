"""What goes into a program that PyInstaller freezes, if the program imports Wend.

- Modules that are imported by name only: planners, and all that `wend.NAME` loads. The command line, the experiments
  and the formats of other solvers are left out, unless the program imports them itself.
- The sources too: the cache folder of kernels is named after them (`kernel/folders.py`).
- Kernels compiled for every processor of this kind, of the planners in `hooksconfig={"wend": {"planners": [...]}}` of
  the spec file, or else of all of Wend's. They are compiled once and kept for the next build.

All imports of PyInstaller stand in `hook`, so that the rest of Wend can be read without it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

module_collection_mode = "pyz+py"

_LEFT_OUT = ("wend.cli", "wend.experiments", "wend.freezing", "wend.interchange", "wend.__main__")


def hook(hook_api: Any) -> None:
    """Called by PyInstaller."""
    from PyInstaller.utils.hooks import collect_data_files, collect_submodules, copy_metadata, get_hook_config, logger

    hook_api.add_imports(*collect_submodules("wend", filter=lambda name: not name.startswith(_LEFT_OUT)))
    planners = get_hook_config(hook_api, "wend", "planners") or []      # none: all
    logger.info("compiling Wend's kernels for %s, once per version", ", ".join(planners) or "all planners")
    folder = _compiled(planners)
    kernels = [(str(file), str(Path("wend", "kernels", file.parent.name))) for file in folder.glob("*/*")]
    data = collect_data_files("wend", excludes=["experiments"])
    hook_api.add_datas([*data, *copy_metadata("wend"), *kernels])


def _compiled(planners: list[str]) -> Path:
    """The cache folder with the kernels of some planners, which run on every processor of this kind."""
    from wend.kernel.folders import ANY_PROCESSOR, FOLDER

    settings = {
        "NUMBA_CPU_NAME": ANY_PROCESSOR,
        "NUMBA_CACHE_DIR": str(FOLDER.parent / f"for-{ANY_PROCESSOR}"),
        "NUMBA_DISABLE_JIT": "0",
        "NUMBA_BOUNDSCHECK": "0",
    }
    command = [sys.executable, "-m", "wend", "warmup", "--json", *planners]
    ran = subprocess.run(command, env={**os.environ, **settings}, stdout=subprocess.PIPE, text=True, check=True)
    return Path(json.loads(ran.stdout)["cache"])

"""Where the results in a folder come from, so that others can make them again.

    <folder>/spec.toml           the spec, as the runner last read it
    <folder>/inputs.json         digests: the SHA-256 of every map and scenario, and of the spec's own measures' source
    <folder>/environments.json   each start of the runner: date, system, cores, versions, commit
"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba
import numpy as np

from wend import __version__, plugins
from wend.errors import FormatError, WendError
from wend.experiments.spec import Job, Spec, load_spec, spec_hash
from wend.files import parse_json, read_bytes, replacing, to_json
from wend.maps.sources import digest_of_map, digest_of_scenario

SPEC, INPUTS, ENVIRONMENTS = "spec.toml", "inputs.json", "environments.json"

_MAX_BYTES = 2**24      # of each file


def record(folder: Path, spec: Spec, jobs: Iterable[Job], **about: Any) -> None:
    """Write down what these jobs are about to be run with; `about` is what the runner knows besides.

    A folder whose results were made with other maps, scenarios or measures of the same names is refused.
    """
    now, before = digests(spec, jobs), recorded_digests(folder)
    for name, digest in now.items():
        if before.get(name, digest) != digest:
            changed = f"the results here were made with another {name}"
            raise FormatError(folder, f"{changed}: name another folder with --out")
    _write(folder / INPUTS, before | now)
    text = read_bytes(spec.file, at_most=_MAX_BYTES)
    if spec_hash(text) != spec.hash:
        raise FormatError(spec.file, "the spec was changed since it was read: start again")
    with replacing(folder / SPEC) as file:
        file.write(text)
    _write(folder / ENVIRONMENTS, [*environments(folder), environment() | {"spec_hash": spec.hash, **about}])


def environment() -> dict[str, Any]:
    """What this process runs on."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "system": platform.platform(),
        "cpu": cpu_model(),
        "cores": cores(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "wend": __version__,
        "commit": commit(),
    }


def digests(spec: Spec, jobs: Iterable[Job]) -> dict[str, str]:
    """The digests of all maps and scenarios of these jobs, and of the source of the spec's own measures.

    Maps and scenarios that only a job's own function can read are left out.
    """
    sources: dict[str, Any] = {}
    for job in jobs:
        sources[f"map {job['map']}"] = digest_of_map, job["map"]
        if job["scen"]:
            sources[f"scenario {job['scen']}"] = digest_of_scenario, job["scen"]
    found = {}
    for name, (digest, source) in sources.items():
        try:
            found[name] = digest(source)
        except WendError:
            continue
    for name in spec.own_measures().values():
        found[f"measure {name}"] = plugins.source_digest(plugins.load(name, plugins.MEASURE))
    return found


def recorded_spec(folder: Path) -> Spec:
    """The spec that a folder holds."""
    if not (folder / SPEC).exists():
        raise FormatError(folder, f"it holds no {SPEC}: `wend bench` writes it beside the results")
    return load_spec(str(folder / SPEC))


def recorded_digests(folder: Path) -> dict[str, str]:
    """The digests that a folder holds; none if it is new."""
    found = _read(folder / INPUTS, {})
    if not isinstance(found, dict) or not all(isinstance(digest, str) for digest in found.values()):
        raise FormatError(folder / INPUTS, "damaged: an object of digests is needed")
    return found


def environments(folder: Path) -> list[dict[str, Any]]:
    """The environments that a folder holds, the oldest first; none if it is new."""
    found = _read(folder / ENVIRONMENTS, [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise FormatError(folder / ENVIRONMENTS, "damaged: a list of objects is needed")
    return found


def _read(path: Path, without: Any) -> Any:
    return parse_json(read_bytes(path, at_most=_MAX_BYTES), path) if path.exists() else without


def _write(path: Path, value: Any) -> None:
    with replacing(path) as file:
        file.write((to_json(value, indent=1) + "\n").encode())


# --- this machine ----------------------------------------------------------------------------------------------------


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@lru_cache(maxsize=1)
def cpu_model() -> str:
    """What the processor calls itself."""
    info = Path("/proc/cpuinfo")
    names = [line for line in info.read_text().splitlines() if line.startswith("model name")] if info.exists() else []
    return names[0].partition(":")[2].strip() if names else platform.processor() or platform.machine()


def commit() -> str:
    """The commit of the checkout that this package runs from, with a + if it was changed since; "" if it is none."""
    git = ["git", "-C", str(Path(__file__).resolve().parent)]
    try:
        head = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True)
        changed = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return head.stdout.strip() + ("+" if changed.stdout.strip() else "")

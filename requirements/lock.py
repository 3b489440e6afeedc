"""Write the lock file of this Python and platform: `make lock`.

A lock file lists everything that `make setup` installs, with its version and the hash of its file, and says nothing
about where it comes from. It is in pip's own format; pip installs from whichever index it is configured for.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = "experiments,viewer,video,cluster,dev,bench"
BUILD = ("hatchling", "editables")      # what an editable install of Wend itself needs


def lock_file() -> Path:
    """The lock file of this Python and platform, whether it exists or not."""
    return ROOT / "requirements" / f"dev-{sys.implementation.cache_tag}-{sysconfig.get_platform()}.lock"


def locked() -> list[str]:
    """What pip would install today, a line each."""
    pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-"]
    report = subprocess.run([*pip, f"{ROOT}[{EXTRAS}]", *BUILD], check=True, capture_output=True).stdout
    lines = []
    for package in json.loads(report)["install"]:
        name, version = (package["metadata"][key] for key in ("name", "version"))
        if name != "wend":
            digest = package["download_info"]["archive_info"]["hashes"]["sha256"]
            lines.append(f"{name.lower()}=={version} --hash=sha256:{digest}")
    return sorted(lines)


if __name__ == "__main__":
    if sys.argv[1:] == ["--name"]:
        print(lock_file().relative_to(ROOT))
    else:
        lock_file().write_text("# Written by `make lock`.\n" + "".join(f"{line}\n" for line in locked()))
        print(f"written to {lock_file().relative_to(ROOT)}")

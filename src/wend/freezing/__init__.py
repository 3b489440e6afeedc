"""What PyInstaller needs to put Wend into a program: it finds the hook in this folder through an entry point."""

from __future__ import annotations

from pathlib import Path


def hook_folders() -> list[str]:
    """Where PyInstaller finds `hook-wend.py`."""
    return [str(Path(__file__).parent)]

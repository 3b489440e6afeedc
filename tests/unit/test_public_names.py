from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import wend


def test_the_public_names_are_complete_and_sorted() -> None:
    assert wend.__all__ == sorted(wend.__all__)
    assert set(wend.__all__) == set(wend._HOME) | set(wend._MODULES)
    assert dir(wend) == sorted([*wend.__all__, "__version__"])
    for name in wend.__all__:
        assert getattr(wend, name) is not None
    with pytest.raises(wend.WendError):     # the one to catch
        wend.create("nonsense")
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = wend.Nonsense


def test_importing_wend_loads_nothing_heavy() -> None:
    code = "import sys, wend, wend.cli; print(sorted({'numba', 'numpy', 'yaml', 'rich'} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert "numba" not in loaded
    assert "numpy" not in loaded


def test_the_version_is_said_once_in_two_places() -> None:
    project = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text())["project"]
    assert project["version"] == wend.__version__

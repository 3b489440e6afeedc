"""Compiled kernels are found again: from another process, from another place, and by a program that came with them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import wend
from wend.kernel import scramble

SEARCH = """
import sys
from wend.kernel.compiling import compiling_told
import wend

compiled = []
with compiling_told(lambda: compiled.append(1)):
    cost = wend.shortest_path(wend.mapgen.open_map(width=9, height=9), (0, 0), (8, 8)).cost
assert 11 < cost < 12, cost
print(len(compiled))
"""

pytestmark = pytest.mark.skipif(not hasattr(scramble, "overloads"), reason="kernels are plain Python here")


def compiled_in_a_search(cache: Path, site: Path | None = None, **settings: str) -> int:
    """How many kernels a fresh process compiles for a search, with that cache and with the package of that folder."""
    env = {**os.environ, "NUMBA_BOUNDSCHECK": "0", "NUMBA_CACHE_DIR": str(cache), **settings}
    if site is not None:
        env["PYTHONPATH"] = str(site)
    ran = subprocess.run([sys.executable, "-c", SEARCH], capture_output=True, text=True, env=env)
    assert ran.returncode == 0, ran.stderr
    return int(ran.stdout)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the kernels of a search, for every processor of this kind."""
    cache = tmp_path_factory.mktemp("cache")
    assert compiled_in_a_search(cache, NUMBA_CPU_NAME="generic") > 0
    assert compiled_in_a_search(cache, NUMBA_CPU_NAME="generic") == 0
    return cache


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A copy of the package, whose files are newer."""
    shutil.copytree(Path(wend.__file__).parent, tmp_path / "site" / "wend", copy_function=shutil.copyfile)
    return tmp_path / "site"


def test_the_cache_does_not_depend_on_where_the_sources_are(filled: Path, elsewhere: Path) -> None:
    assert compiled_in_a_search(filled, elsewhere, NUMBA_CPU_NAME="generic") == 0


def test_an_edited_source_has_a_cache_of_its_own(filled: Path, elsewhere: Path, tmp_path: Path) -> None:
    cache = shutil.copytree(filled, tmp_path / "cache")
    with (elsewhere / "wend" / "search" / "astar.py").open("a") as source:
        source.write("# edited\n")
    assert compiled_in_a_search(cache, elsewhere, NUMBA_CPU_NAME="generic") > 0


def test_kernels_that_came_with_the_program_are_loaded(filled: Path, elsewhere: Path, tmp_path: Path) -> None:
    """On any processor, and without a folder of the user's."""
    (folder,) = filled.glob("kernels-*")
    shutil.copytree(folder, elsewhere / "wend" / "kernels")
    assert compiled_in_a_search(tmp_path / "none", elsewhere) == 0
    assert not (tmp_path / "none").exists()


def test_without_a_folder_that_can_be_written_kernels_are_compiled_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert compiled_in_a_search(tmp_path / "file" / "cache") > 0

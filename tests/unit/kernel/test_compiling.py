from __future__ import annotations

import os
import subprocess
import sys

import numba
import pytest

from wend.kernel import jit, scramble


@pytest.mark.small
def test_scramble_is_the_same_everywhere_and_spreads() -> None:
    assert [scramble(k) for k in (0, 1, 2, -1, 2**40 + 1)] == [scramble(k) for k in (0, 1, 2, 0xFFFFFFFF, 1)]
    assert [scramble(k) for k in (0, 1, 2)] == [0, 401199356, 1542425877]
    drawn = [scramble(k) for k in range(10_000)]
    assert len(set(drawn)) == 10_000
    assert abs(sum(drawn) / len(drawn) / 2**32 - 0.5) < 0.01


def test_numbas_own_settings_are_left_alone() -> None:
    before = numba.config.CACHE_DIR

    @jit
    def one() -> int:
        return 1

    assert one() == 1
    assert before == numba.config.CACHE_DIR


def cache_folders(tmp_path, **env: str) -> set[str]:
    code = "from wend.kernel import scramble; scramble(1)"
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), **env}
    )
    return {path.name for path in tmp_path.iterdir()}


def test_bounds_checked_kernels_have_a_cache_of_their_own(tmp_path) -> None:
    plain = cache_folders(tmp_path, NUMBA_BOUNDSCHECK="0", NUMBA_DISABLE_JIT="0")
    both = cache_folders(tmp_path, NUMBA_BOUNDSCHECK="1", NUMBA_DISABLE_JIT="0")
    assert len(plain) == 1
    assert both - plain == {f"{next(iter(plain))}-boundscheck"}

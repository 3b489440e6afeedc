from __future__ import annotations

import subprocess
import sys

import pytest

from wend.files import check_writable, replacing


def write_half(path) -> None:
    with replacing(path) as file:
        file.write(b"half of the n")
        raise OSError(28, "No space left on device")


def test_the_old_file_stays_when_writing_fails(tmp_path) -> None:
    path = tmp_path / "a" / "file"
    with replacing(path) as file:
        file.write(b"old")
    with pytest.raises(OSError, match="No space left"):
        write_half(path)
    assert path.read_bytes() == b"old"
    assert [p.name for p in path.parent.iterdir()] == ["file"]


def test_the_new_file_takes_its_place(tmp_path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o077 == (tmp_path / "file").stat().st_mode & 0o077


def test_a_disk_that_takes_no_more_leaves_the_old_file(tmp_path) -> None:
    """The limit on a file's size stands in for the full disk: the system refuses the write in the same way."""
    path = tmp_path / "run.wend"
    path.write_bytes(b"old")
    code = f"""
import resource, sys
import numpy as np
from wend import Grid, World
trace = World(Grid(np.random.default_rng(0).random((200, 200)) < 0.5), "lra").trace()
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    trace.save({str(path)!r})
except OSError as error:
    sys.exit(f"refused: {{error.strerror}}")
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stderr.strip() == "refused: File too large"
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["run.wend"]


def test_unwritable_places_are_known_beforehand(tmp_path) -> None:
    check_writable(tmp_path / "new" / "file")
    assert not (tmp_path / "new" / "file").exists()
    with pytest.raises(IsADirectoryError):
        check_writable(tmp_path)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError, match="file"):
        check_writable(tmp_path / "file" / "below")

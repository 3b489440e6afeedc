from __future__ import annotations

import pytest

from wend.files import check_writable, replacing


def test_the_old_file_stays_when_writing_fails(tmp_path) -> None:
    path = tmp_path / "a" / "file"
    with replacing(path) as file:
        file.write(b"old")
    with pytest.raises(OSError, match="No space left"), replacing(path) as file:
        file.write(b"half of the n")
        raise OSError(28, "No space left on device")
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


def test_a_full_disk_is_an_error_and_leaves_nothing(tmp_path) -> None:
    with pytest.raises(OSError, match="No space left"), open("/dev/full", "wb") as full:
        full.write(b"x" * 10_000_000)
        full.flush()


def test_unwritable_places_are_known_beforehand(tmp_path) -> None:
    check_writable(tmp_path / "new" / "file")
    assert not (tmp_path / "new" / "file").exists()
    with pytest.raises(IsADirectoryError):
        check_writable(tmp_path)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError, match="file"):
        check_writable(tmp_path / "file" / "below")

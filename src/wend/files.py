"""Writing files so that nothing is lost: aside first, then renamed into place. And how zip files fail."""

from __future__ import annotations

import errno
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

# All that zipfile raises on damaged, encrypted or unsupported archives.
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, OSError)


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file to write that takes the place of `path` only when it is whole.

    When the block raises, or the disk is full, the old file stays as it was and nothing half-written is left.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    aside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        aside.chmod(0o666 & ~_umask())
        aside.replace(target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def check_writable(path: str | Path) -> None:
    """Raise the OSError that writing `path` would end in, before long work is done for it."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    with tempfile.TemporaryFile(dir=target.parent):
        pass


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

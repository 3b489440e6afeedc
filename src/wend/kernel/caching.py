# mypy: ignore-errors
"""Where compiled kernels are kept on disk, and how a frozen program finds those that it came with.

Numba does not notice an edited callee in another file, so the name of the cache folder holds a hash of all of the
package's sources; it also holds whether bounds are checked, because Numba would silently reuse code compiled without
the checks. Beyond that, what is in the folder does not depend on where the sources lie or when they were written, so
that a folder may be copied.

A program frozen by PyInstaller comes with a second folder beside the package's modules, written on another machine for
any processor of its kind (`freezing/hook-wend.py`). A kernel is looked up there first; what is not there is compiled
and kept in the user's folder, as elsewhere. Where nothing can be written, kernels are compiled anew in each process.

This leans on internals of Numba (`FunctionCache`, `CompileResultCacheImpl`, `_CacheLocator`), as `linking.py` does.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import shutil
import time
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

ANY_PROCESSOR = "generic"       # the name under which Numba compiles for every processor of a kind: NUMBA_CPU_NAME

_PACKAGE = Path(__file__).resolve().parent.parent
_STALE_AFTER_DAYS = 14


def _choose_folder() -> Path:
    """The folder for the compiled kernels of exactly these sources."""
    sources = hashlib.blake2b(digest_size=8)
    for path in sorted(_PACKAGE.rglob("*.py")):
        sources.update(path.relative_to(_PACKAGE).as_posix().encode())
        sources.update(path.read_bytes())
    user_cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "wend"
    base = os.environ.get("NUMBA_CACHE_DIR") or user_cache
    checked = "-boundscheck" if numba.config.BOUNDSCHECK else ""
    folder = Path(base) / f"kernels-{sources.hexdigest()}{checked}"
    if folder.exists():
        with contextlib.suppress(OSError):
            os.utime(folder)            # it is in use
    else:
        _remove_stale(folder.parent)
    return folder


def _remove_stale(base: Path) -> None:
    """Delete the kernel folders of sources that have not been run for a while."""
    oldest = time.time() - _STALE_AFTER_DAYS * 86_400
    for folder in base.glob("kernels-*"):
        try:
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)
        except FileNotFoundError:       # another process was quicker
            pass


FOLDER = _choose_folder()
SHIPPED = _PACKAGE / "kernels"          # in a frozen program
_HAS_SHIPPED = SHIPPED.is_dir() and not numba.config.BOUNDSCHECK


class _Place(_CacheLocator):
    """Where the files of one kernel of the package are."""

    folder = FOLDER

    def __init__(self, function: Any) -> None:
        self._function = function

    @classmethod
    def from_function(cls, py_func: Any, _: str) -> _Place:
        return cls(py_func)

    def get_cache_path(self) -> str:
        return str(self.folder / self._function.__module__)

    def get_source_stamp(self) -> str:
        return ""                       # the folder's name says it

    def get_disambiguator(self) -> str:
        return str(self._function.__code__.co_firstlineno)


class _ShippedPlace(_Place):
    folder = SHIPPED


class _Files(CompileResultCacheImpl):
    _locator_classes = (_Place,)


class _ShippedFiles(CompileResultCacheImpl):
    _locator_classes = (_ShippedPlace,)


class _ShippedCache(FunctionCache):
    """The versions of a kernel that came with the program. It is only read."""

    _impl_class = _ShippedFiles

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        signature, (kind, *_), code = super()._index_key(sig, codegen)
        return signature, (kind, ANY_PROCESSOR, ""), code


class KernelCache(FunctionCache):
    """The versions of a kernel of the package that need not be compiled again."""

    _impl_class = _Files

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._shipped = _ShippedCache(function) if _HAS_SHIPPED else None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = None if self._shipped is None else self._shipped.load_overload(sig, target_context)
        try:
            return super().load_overload(sig, target_context) if found is None else found
        except OSError:                 # a folder that cannot be read: saving will say so
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _warn_once(f"compiled kernels cannot be kept in {FOLDER}: {error.strerror or error}")


_warned: set[str] = set()


def _warn_once(message: str) -> None:
    if not _warned:
        _warned.add(message)
        logging.getLogger("wend").warning("%s", message)

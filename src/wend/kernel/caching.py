# mypy: ignore-errors
"""How compiled kernels are kept on disk, and how a frozen program finds those that it came with.

What is in the user's folder does not depend on where the sources lie or when they were written: the folder's name says
what they are (`folders.py`). So a folder may be copied.

A program frozen by PyInstaller comes with a second folder beside the package's modules, written on another machine for
any processor of its kind (`freezing/hook-wend.py`). A kernel is looked up there first; what is not there is compiled
and kept in the user's folder, as elsewhere. Where nothing can be written, kernels are compiled anew in each process.

This leans on internals of Numba (`FunctionCache`, `CompileResultCacheImpl`, `_CacheLocator`), as `linking.py` does, and
is imported by that file alone.
"""

from __future__ import annotations

import functools
import logging
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

from wend.kernel.folders import ANY_PROCESSOR, FOLDER, HAS_SHIPPED, SHIPPED


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
        self._shipped = _ShippedCache(function) if HAS_SHIPPED else None

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


@functools.cache
def _warn_once(message: str) -> None:
    logging.getLogger("wend").warning("%s", message)

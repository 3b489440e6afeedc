# mypy: ignore-errors
"""How a kernel is compiled once: as a part where kernels call it, as a whole where Python does.

Numba compiles every function together with all that it calls. A kernel five calls down is then optimised and assembled
five times over, and each time with wrappers for Python that nobody uses. Here a kernel that another one calls is a
*part*: it is kept as LLVM's intermediate code and never assembled on its own. What Python calls is a *whole*: it links
all parts below it, is optimised once, and is cached on disk. Any kernel can be both; there is no list of entry points.

Between kernels, signed integers are passed as int64, so that a cell read from an array and one counted by `range` do
not compile the callee twice. Bundles are passed by address (`bundles.py`). An index into an array is never negative, so
that no time goes into asking each of them: that took a seventh of a search.

What follows for whoever writes kernels: fields of a bundle are read by name, and no bundle that a kernel was given is
returned (what does so is not compiled). There is no `array[-1]` (a constant is not compiled, others are found by bounds
checks). No `print`, no object mode, and no exception with arguments that are known at run time only, since a part has
no environment of its own. Bounds checks work.

This leans on internals of Numba, as `_nrt=False` does. They stand in this file and nowhere else; they are known to work
from TESTED[0] up to TESTED[1], `tests/unit/kernel/test_linking.py` fails when a release changes them, and outside of
that range `compiling.jit` falls back to plain `njit`. See docs/decisions/006-each-kernel-is-compiled-once.md.
"""

from __future__ import annotations

import functools
import gc
import operator
from typing import Any, ClassVar

from llvmlite.binding import Linkage
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.dispatcher import _FunctionCompiler
from numba.core.errors import TypingError
from numba.core.imputils import lower_constant
from numba.core.registry import CPUDispatcher
from numba.core.typing import signature
from numba.extending import models, register_model

from wend.kernel.bundles import check_answer, passed
from wend.kernel.caching import KernelCache

TESTED = ((0, 60), (0, 69))     # from this version of Numba on, and below that one

_PLAIN = (types.Number, types.Boolean, types.Array, types.UniTuple, types.NoneType)


class _Unplaced:
    """A code generator for functions that get no address, and so no environment."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """A part runs in the environment of the whole that it is linked into."""


class _Library(JITCodeLibrary):
    """The code of a kernel. Only a whole is optimised, with all its parts: to do it to each of them before takes longer
    than it saves, a third of a cold start.
    """

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout


class _PartLibrary(_Library):
    """The code of a part, which is never assembled."""

    @property
    def codegen(self) -> Any:
        return _Unplaced(self._codegen)

    def finalize(self) -> None:
        self._finalized = True


class _WholeLibrary(_Library):
    """The code of a whole, with that of all parts that it calls, directly or not."""

    def finalize(self) -> None:
        linked = list(dict.fromkeys(self._linking_libraries))
        known = set(linked)
        for library in linked:                      # which grows meanwhile
            if isinstance(library, _PartLibrary):
                for below in library._linking_libraries:
                    if below not in known:
                        known.add(below)
                        linked.append(below)
        self._linking_libraries = linked
        super().finalize()

    def _optimize_final_module(self) -> None:
        """Nobody else calls these parts, so where they are inlined they need not be kept."""
        for function in self._final_module.functions:
            if function.linkage == Linkage.linkonce_odr:
                function.linkage = Linkage.internal
        super()._optimize_final_module()


class _Typing:
    """What Numba knows of types, but the type of an operation on numbers and arrays is found out once. Numba would ask
    some dozens of candidates each time that it comes to a `+` or a `[`: an eighth of a cold start.

    To it, numbers that index arrays are unsigned, so that it does not count those below 0 from the array's end.
    """

    _known: ClassVar[dict[Any, Any]] = {}       # signatures, by the operation and the types that it is applied to

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, function: Any, args: Any, kws: Any) -> Any:
        operation = function if isinstance(function, types.Type) else self._context._lookup_global(function)
        if function in (operator.getitem, operator.setitem) and isinstance(args[0], types.Array):
            args = args[0], _from_the_front(args[1]), *args[2:]
        is_plain = isinstance(operation, types.Function) and all(isinstance(kind, _PLAIN) for kind in args)
        if kws or not is_plain:
            return self._context.resolve_function_type(function, args, kws)
        key = operation, tuple(args)    # an operation for which somebody registers more candidates is another one
        if key not in self._known:
            self._known[key] = self._context.resolve_function_type(function, args, kws)
        return self._known[key]

    def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
        return self.resolve_function_type(operator.setitem, (target, index, value), {})


class _PartCompiler(Compiler):
    """Numba's compiler, but for what becomes of the code."""

    library: type[_Library] = _PartLibrary

    def __init__(self, typingctx: Any, *rest: Any) -> None:
        super().__init__(_Typing(typingctx), *rest)

    def define_pipelines(self) -> Any:
        library = self.library(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        library.enable_object_caching()
        self.state.library = library
        return super().define_pipelines()


class _WholeCompiler(_PartCompiler):
    library = _WholeLibrary


class _KernelType(types.Dispatcher):
    """What a kernel is to another kernel that calls it."""

    @property
    def dispatcher(self) -> Any:
        return self._get_object().part

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        found = super().get_call_type(context, tuple(map(_widened, args)), {k: _widened(v) for k, v in kws.items()})
        if found is not None:
            check_answer(found.return_type)
        return found


register_model(_KernelType)(models.OpaqueModel)


@lower_constant(_KernelType)
def _no_value(context: Any, *_: Any) -> Any:
    """A kernel that is passed to another one is known by its type; its address would keep the caller from the cache."""
    return context.get_dummy_value()


def _widened(kind: Any) -> Any:
    kind = types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer) and kind.signed else passed(kind)


def _from_the_front(index: Any) -> Any:
    """The type of an index that is not negative."""
    if isinstance(index, types.IntegerLiteral) and index.literal_value < 0:
        raise TypingError("a kernel indexes arrays from the front: there is no [-1]")
    if isinstance(index, types.BaseTuple) and all(isinstance(kind, types.Integer) for kind in index):
        return types.BaseTuple.from_types([_from_the_front(kind) for kind in index])
    return types.uintp if isinstance(index, types.Integer) else index


class _WholeFunction(_FunctionCompiler):
    """Compiles a kernel to which bundles are passed by address, and calls it by the types that Python passes."""

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        result = super()._compile_core(tuple(map(passed, args)), return_type)
        check_answer(result.signature.return_type)
        return result._replace(signature=signature(result.signature.return_type, *args))


class Kernel(CPUDispatcher):
    """A compiled function: a whole to Python, a part to kernels."""

    def __init__(self, py_func: Any, locals: Any, targetoptions: Any) -> None:
        super().__init__(py_func, locals, targetoptions, _WholeCompiler)
        self._type = _KernelType(self)
        del self._compiler      # made when it is needed, as the cache is: most kernels of a process are never called

    @property
    def _numba_type_(self) -> _KernelType:
        return self._type

    @functools.cached_property
    def _compiler(self) -> _WholeFunction:
        return _WholeFunction(self.py_func, self.targetdescr, self.targetoptions, self.locals, _WholeCompiler)

    @functools.cached_property
    def _cache(self) -> KernelCache:
        return KernelCache(self.py_func)

    def enable_caching(self) -> None:
        """Keep what is compiled: in Numba's own way, unless it is a kernel of the package."""
        if self.py_func.__module__.partition(".")[0] == __name__.partition(".")[0]:
            del self._cache
        else:
            super().enable_caching()

    def compile(self, sig: Any) -> Any:
        """Compile a whole, or load it. Nothing is thrown away meanwhile that the collector could find: looking for it
        would take a tenth of a cold start.
        """
        collects = gc.isenabled()
        gc.disable()
        try:
            return super().compile(sig)
        finally:
            if collects:
                gc.enable()

    @functools.cached_property
    def part(self) -> CPUDispatcher:
        """The same function for kernels to call. Python must not: it has no wrapper that Python could enter by."""
        options = {**self.targetoptions, "no_cpython_wrapper": True}
        return CPUDispatcher(self.py_func, {}, options, _PartCompiler)


def kernel(function: Any, **options: Any) -> Kernel:
    """Compile a function on its first call, or load it from the cache."""
    compiled = Kernel(function, {}, {"nopython": True, "no_cfunc_wrapper": True, **options})
    compiled.enable_caching()
    return compiled

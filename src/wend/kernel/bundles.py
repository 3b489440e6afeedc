# mypy: ignore-errors
"""How bundles are passed between kernels: by the address of their fields.

Numba passes a NamedTuple as all the numbers that it consists of, and an array is seven of them or more. With a bundle
of bundles these are hundreds in each call of a kernel, and to compile such calls took a third of a cold start. Here the
caller writes them down in its own stack frame, and passes where they are. A bundle inside a bundle is an address inside
the same piece of memory, and what is not read is not loaded.

    a bundle that Python passes to a whole          is written down before the kernel begins
    a bundle that Python wrote down (`WrittenBundle`)   is an address already
    a bundle that a kernel has made                 is a NamedTuple, and is written down where it is passed to a part
    a bundle that a kernel was given, or one in it  is an address, and is passed on as it is

So addresses only ever go down, to kernels that end before the one that wrote the bundle down, or before Python lets go
of it. None can go up: a kernel that would return one is not compiled.

This uses what Numba offers to extensions, and is imported by `linking.py` and `compiling.py` alone.
"""

from __future__ import annotations

import functools
import operator
from typing import Any, ClassVar

import numpy as np
from llvmlite import ir
from numba import typeof
from numba.core import cgutils, errors, types
from numba.core.imputils import lower_cast, lower_getattr_generic
from numba.core.registry import cpu_target
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, models, register_model, typeof_impl, unbox

_WORD = 8       # bytes: every field begins at a multiple of them


class Bundle(types.Type):
    """A NamedTuple of which a kernel is told the address."""

    _numbers: ClassVar[dict[Any, int]] = {}

    def __init__(self, inner: types.BaseNamedTuple) -> None:
        self.inner = inner
        number = self._numbers.setdefault(inner, len(self._numbers))
        super().__init__(f"{inner.instance_class.__name__}.{number}")   # short, since it is part of many other names

    def __reduce__(self) -> Any:
        return Bundle, (self.inner,)            # its number is another one in another process

    @functools.cached_property
    def layout(self) -> tuple[dict[str, tuple[types.Type, bool, int]], int]:
        """Of each field, by name: its type to kernels, whether it is a bundle that lies inside this one, and the byte
        where it begins. And how many bytes there are in all.
        """
        context, found, end = cpu_target.target_context, {}, 0
        for name, kind in zip(self.inner.fields, self.inner, strict=True):
            seen = passed(kind)
            found[name] = seen, seen is not kind, end
            size = seen.size if seen is not kind else context.get_abi_sizeof(context.get_value_type(kind))
            end += -(-size // _WORD) * _WORD
        return found, end

    @property
    def fields(self) -> dict[str, tuple[types.Type, bool, int]]:
        """The fields of its layout."""
        return self.layout[0]

    @property
    def size(self) -> int:
        """The size of its layout."""
        return self.layout[1]


def passed(kind: types.Type) -> types.Type:
    """As what a value of this type is passed to a kernel."""
    return Bundle(kind) if isinstance(kind, types.BaseNamedTuple) else kind


def check_answer(kind: types.Type) -> None:
    """Refuse an answer that is or holds the address of a bundle, which may be gone by then."""
    if isinstance(kind, Bundle):
        raise errors.TypingError(f"a kernel must not return a bundle that it was given: {kind}")
    if isinstance(kind, types.BaseTuple):
        for inner in kind:
            check_answer(inner)


register_model(Bundle)(models.OpaqueModel)      # an address


@infer_getattr
class _Fields(AttributeTemplate):
    key = Bundle

    def generic_resolve(self, bundle: Bundle, name: str) -> Any:
        return bundle.fields[name][0] if name in bundle.fields else None


def _at(builder: Any, address: Any, offset: int) -> Any:
    return builder.gep(address, [ir.IntType(64)(offset)], inbounds=True) if offset else address


@lower_getattr_generic(Bundle)
def _read(context: Any, builder: Any, bundle: Bundle, address: Any, name: str) -> Any:
    kind, is_inside, offset = bundle.fields[name]
    place = _at(builder, address, offset)
    return place if is_inside else builder.load(builder.bitcast(place, context.get_value_type(kind).as_pointer()))


def _write_at(builder: Any, bundle: Bundle, value: Any, address: Any) -> None:
    for k, (kind, is_inside, offset) in enumerate(bundle.fields.values()):
        field, place = builder.extract_value(value, k), _at(builder, address, offset)
        if is_inside:
            _write_at(builder, kind, field, place)
        else:
            builder.store(field, builder.bitcast(place, field.type.as_pointer()))


@lower_cast(types.BaseNamedTuple, Bundle)
def _write(_context: Any, builder: Any, _kind: types.Type, bundle: Bundle, value: Any) -> Any:
    """Write a bundle down, in memory that is there until the function at hand ends."""
    space = cgutils.alloca_once(builder, ir.ArrayType(ir.IntType(64), bundle.size // _WORD))
    address = builder.bitcast(space, ir.IntType(8).as_pointer())
    _write_at(builder, bundle, value, address)
    return address


class WrittenBundle:
    """A bundle that Python has written down, for the kernels that it is passed to in its stead.

    To read the arrays of a planner out of their Python objects takes 5 us in each call. Here it is done once; what a
    kernel does to the arrays is seen as ever, and this keeps them alive.
    """

    def __init__(self, bundle: tuple[Any, ...]) -> None:
        self._bundle = bundle
        self._words = np.array(_words_of(bundle), np.int64)
        self._address: int = self._words.ctypes.data

    def __index__(self) -> int:
        return self._address

    @functools.cached_property
    def kind(self) -> types.Type:
        """The type of the bundle, for a kernel that has to look at it."""
        return typeof(self._bundle)


@typeof_impl.register(WrittenBundle)
def _typeof_kept(kept: WrittenBundle, _context: Any) -> types.Type:
    return kept.kind


def _words_of(bundle: tuple[Any, ...]) -> list[int]:
    """The words of a bundle's layout."""
    words = []
    for field in bundle:
        if isinstance(field, tuple):
            words += _words_of(field)
        elif isinstance(field, np.ndarray):         # as in `numba.core.datamodel.models.ArrayModel`
            words += 0, 0, field.size, field.itemsize, field.ctypes.data, *field.shape, *field.strides
        else:
            words.append(operator.index(field))
    return words


@unbox(Bundle)
def _unbox(bundle: Bundle, given: Any, c: Any) -> NativeValue:
    builder, api = c.builder, c.pyapi
    is_subtype = api._get_function(ir.FunctionType(ir.IntType(32), [api.pyobj] * 2), name="PyType_IsSubtype")
    is_tuple = builder.call(is_subtype, [api.get_type(given), api.get_c_object("PyTuple_Type")])
    address = cgutils.alloca_once(builder, ir.IntType(8).as_pointer())
    is_error = cgutils.alloca_once_value(builder, cgutils.false_bit)
    with builder.if_else(cgutils.is_not_null(builder, is_tuple)) as (as_tuple, as_kept):
        with as_tuple:
            native = c.unbox(bundle.inner, given)
            builder.store(_write(c.context, builder, bundle.inner, bundle, native.value), address)
            builder.store(native.is_error, is_error)
        with as_kept:
            kept = api.number_as_ssize_t(given)
            builder.store(builder.inttoptr(kept, ir.IntType(8).as_pointer()), address)
            builder.store(builder.icmp_signed("==", kept, kept.type(-1)), is_error)
    return NativeValue(builder.load(address), is_error=builder.load(is_error), cleanup=native.cleanup)

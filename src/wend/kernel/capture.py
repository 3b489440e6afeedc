# mypy: disallow-untyped-calls=False
"""Capture: the state of an object and of all that it holds, as numbers and one block of bytes.

`capture` walks from an object through its attributes, and writes down what it finds as a tree of plain values; most of
the walk is remembered from the capture before (outline.py). The arrays go into one block: those of a pool, or of any
bundle that says so in `lengths_in_use`, only as far as they are used, and long ones packed (storing.py). Of arrays with
marks, only what was written since the last capture is copied, if there is a keeper (keeping.py); the marks themselves
are not captured. recalling.py leads back.

No code comes out of a capture: a class is known by its name, and must be one that is loaded already, from the modules
that the caller trusts. Functions, and the attributes that a class names in `uncaptured`, are left as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wend.errors import SnapshotError
from wend.kernel.arrays import zeros
from wend.kernel.keeping import Keeper, Kept
from wend.kernel.outline import (
    AGAIN,
    ARRAY,
    BYTES,
    DICT,
    FEW,
    INNER,
    PLAIN,
    PLAIN_SERIES,
    TAG_OF,
    Findings,
    Outline,
    Part,
    Sized,
    Unheld,
    is_bundle,
    is_object,
    left_out,
    name_of,
)
from wend.kernel.storing import (
    Arrays,
    Block,
    Layout,
    Source,
    Stored,
    check_stored,
    dtype_of,
    in_use,
    layout_of,
    listing_of,
    looked_through,
    store,
)

# What stands for an empty list or the like.
_EMPTY: dict[type[Any], Any] = {kind: (tag, ()) for tag, kind in PLAIN_SERIES.items()}
_EMPTY[dict] = DICT, _EMPTY[list], _EMPTY[list]


class Captured(NamedTuple):
    """The state of an object."""

    tree: Any                               # outline; plain values and the rest, by object; and arrays by rows
    arrays: Sequence[Stored | Kept]
    block: Block
    sign: object = None                     # of the outline

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take, what they share with other captures included."""
        kept = self.arrays.elsewhere.values() if isinstance(self.arrays, Arrays) else ()
        return int(self.block.nbytes) + sum(int(one.nbytes) for one in kept)


def capture(root: object, keeper: Keeper | None = None) -> Captured:
    """The state of an object, and of all that it holds. With its keeper it shares arrays with captures before it."""
    outline = Outline(root, set(), is_sharing=False) if keeper is None else keeper.outlines.of(root)
    walk = _Later(outline)
    plain = [part.plain_values() for part in outline.parts]
    later = [walk.attributes(part) if part.later else {} for part in outline.parts]
    listing, kinds = outline.listing, outline.kinds + [layout.kind for layout in walk.layouts]
    if walk.layouts:
        listing = np.concatenate((listing, listing_of(walk.layouts)))
    sparse = walk.sparse if keeper is not None else [looked_through(array) for array, _ in walk.sparse]
    block, where, more = store(listing, in_use([*outline.rows, *walk.rows]), sparse)
    rows = [(len(kinds) + 2 * k, len(kinds) + 2 * k + 1) for k in range(len(sparse))]
    arrays, tree = Arrays(kinds + more, where, {}), (outline.tree, plain, later, rows)
    if keeper is None:
        return Captured(tree, arrays, block)
    arrays.elsewhere.update(zip(walk.marked, keeper.keep(walk.marked.values()), strict=True))
    return Captured(tree, arrays, block, outline.sign)


def in_one_block(captured: Captured) -> Captured:
    """The same with all arrays in its block."""
    source = Source(captured.block)
    layouts: list[Layout] = []
    for stored in captured.arrays:
        if isinstance(stored, Kept):
            layouts.append(layout_of(stored.content(), shape=stored.shape))
        else:
            rows = zeros((stored.rows, *stored.shape[1:]), dtype_of(stored.dtype))
            layouts.append(layout_of(rows, shape=stored.shape, is_packed=stored.words > 0))
            source.write(rows, stored)
    step, given = source.step()
    step(*given)
    block, where, _ = store(listing_of(layouts), in_use([len(layout.array) for layout in layouts]))
    return Captured(captured.tree, list(Arrays([layout.kind for layout in layouts], where, {})), block)


def check(captured: Captured) -> None:
    """Raise a ValueError if an array does not lie in the block: kernels do not look where they read."""
    for stored in captured.arrays:
        if isinstance(stored, Stored):
            check_stored(stored, captured.block)


class _Later(Findings):
    """The walk through all that is not in an outline."""

    def attributes(self, part: Part) -> dict[str, Any]:
        """What stands for some attributes of an object."""
        now = vars(part.thing)
        return {name: self._held(part.path, name, now[name]) for name in part.later}

    def _held(self, path: str, name: str, value: Any) -> Any:
        try:
            return self._value(value)
        except Unheld as unheld:
            where = ".".join((path, name, *reversed(unheld.path)))
            raise SnapshotError(
                f"{where} is a {unheld.kind.__name__}, which a snapshot cannot hold: keep state in numbers, texts, "
                f"arrays, lists and dicts, or name the attribute in `uncaptured`"
            ) from None

    def field(self, value: Any, sized: Sized | None, lengths: Any) -> Any:
        """What stands for a value in a bundle: here it may be anything."""
        return self.bundle(value, sized, lengths) if is_bundle(value) else self._value(value)

    def _value(self, value: Any) -> Any:
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind is np.ndarray:
            return ARRAY, self.array(value)
        if kind in _EMPTY and not value:
            return _EMPTY[kind]
        if kind in TAG_OF:
            return self._series(value)
        if kind is dict:
            return DICT, self._series(list(value)), self._series(list(value.values()))
        if kind is float:
            return super().field(value, None, None)
        if kind is bytes:
            return BYTES, value.hex()
        if is_bundle(value):
            return self.bundle(value)
        if callable(value) or not is_object(value):
            raise Unheld(value)
        number = self.number.get(id(value))
        return self._object(value) if number is None else (AGAIN, number)

    def _series(self, values: Any) -> Any:
        tag = TAG_OF[type(values)]
        if PLAIN.issuperset(map(type, values)):
            return tag.upper(), tuple(values)
        few = {id(value): value for value in values}
        if type(values) is list and 4 * len(few) <= len(values):        # the order of a group, for each of its agents
            place = {key: k for k, key in enumerate(few)}
            return FEW, self._series(list(few.values())), tuple(place[id(value)] for value in values)
        return tag, tuple(self._value(value) for value in values)

    def _object(self, thing: Any) -> Any:
        kind: Any = type(thing)
        number, held = self.meet(thing), {}
        for name, value in vars(thing).items():
            if name in left_out(kind) or callable(value):
                continue
            try:
                held[name] = self._value(value)
            except Unheld as unheld:
                unheld.path.append(name)
                raise
        return INNER, number, name_of(kind), held

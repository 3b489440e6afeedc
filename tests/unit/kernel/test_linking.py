"""These tests fail when a release of Numba changes the internals that `kernel/linking.py` leans on."""

from __future__ import annotations

import copy
import gc
import json
import logging
import operator
import os
import pickle
import subprocess
import sys
from typing import NamedTuple

import numba
import numpy as np
import pytest
from llvmlite.binding import Linkage
from numba.core.typing.context import BaseContext

from wend.kernel import compiling, scramble
from wend.kernel.bundles import WrittenBundle
from wend.kernel.linking import TESTED, Kernel

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


def uncached(function) -> Kernel:
    return Kernel(function, {}, {"nopython": True, "no_cfunc_wrapper": True, "_nrt": False})


@pytest.fixture
def kernels() -> tuple[Kernel, Kernel, Kernel]:
    """A kernel that is called with an int64, an int32 and a literal; one that calls it; and one on top of that."""

    @uncached
    def twice(values, k):
        return 2 * values[k]

    @uncached
    def by_range(values):
        total = 0
        for k in range(values.size):
            total += twice(values, k)
        return total

    @uncached
    def both(values, order):
        total = by_range(values) + twice(values, 0)
        for k in order:
            total += twice(values, k)
        return total

    return twice, by_range, both


def test_a_kernel_that_kernels_call_is_compiled_once_and_never_for_python(kernels) -> None:
    twice, by_range, both = kernels
    assert both(np.arange(5), np.arange(5, dtype=np.int32)) == 40
    assert [len(kernel.part.overloads) for kernel in (twice, by_range)] == [1, 1]
    assert [len(kernel.overloads) for kernel in kernels] == [0, 0, 1]


def test_a_kernel_can_be_called_from_python_as_well(kernels) -> None:
    twice, by_range, both = kernels
    values = np.arange(5)
    assert both(values, np.arange(3, dtype=np.int32)) == 26
    assert [twice(values, 3), by_range(values)] == [6, 20]
    assert [len(kernel.overloads) for kernel in kernels] == [1, 1, 1]
    assert len(twice.part.overloads) == 1


def test_the_types_of_operations_are_found_out_once(monkeypatch) -> None:
    asked = []
    ask = BaseContext.resolve_function_type
    monkeypatch.setattr(
        BaseContext, "resolve_function_type", lambda self, *call: (asked.append(call[:2]), ask(self, *call))[1]
    )

    @uncached
    def shifted(values, k):
        values[k] = values[k] + values[k + 1]
        values[k + 1] = values[k] + values[k + 1]
        return values[k + 1]

    values = np.array([1, 2], np.int16)
    assert shifted(values, 0) == 5
    assert len(asked) == len(set(asked)) > 0
    asked.clear()

    @uncached
    def again(values, k):
        return values[k] + values[k]

    assert again(values, 1) == 10
    assert asked == []


def test_operations_that_are_registered_later_are_found(kernels) -> None:
    assert kernels[0](np.arange(5), 3) == 6                 # an operation with these types is known now

    @numba.extending.overload(operator.mul)
    def multiply(a, b):
        return (lambda a, b: (a, b)) if isinstance(a, numba.types.UnicodeType) and a is b else None

    @uncached
    def thrice(values, k):
        return 3 * values[k]

    assert thrice(np.arange(5), 3) == 9


def test_only_what_python_calls_is_left_of_a_whole(kernels) -> None:
    _, _, both = kernels
    both(np.arange(5), np.arange(5, dtype=np.int32))
    library = both.overloads[both.signatures[0]].library
    assert {function.linkage for function in library.get_defined_functions()} == {Linkage.external}


@pytest.mark.parametrize("collects", [True, False])
def test_compiling_leaves_the_garbage_collector_as_it_was(kernels, collects) -> None:
    before = gc.isenabled()
    (gc.enable if collects else gc.disable)()
    try:
        assert kernels[0](np.arange(5), 3) == 6
        assert gc.isenabled() == collects
        with pytest.raises(numba.TypingError):
            kernels[0]("no array", 3)
        assert gc.isenabled() == collects
    finally:
        (gc.enable if before else gc.disable)()


def test_kernels_are_copied_and_pickled() -> None:
    assert copy.deepcopy(scramble)(1) == scramble(1)
    assert pickle.loads(pickle.dumps(scramble))(1) == scramble(1)


def test_every_kernel_of_the_package_is_one() -> None:
    from wend.search import astar

    assert isinstance(astar.run, Kernel)


def in_a_process(code: str, **env: str) -> dict[str, int]:
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, **env}
    )
    found: dict[str, int] = json.loads(ran.stdout)
    return found


LOOK_UP = """
import json
from wend import Grid, shortest_path
from wend.search import astar
shortest_path(Grid([[1, 1, 1]]), (0, 0), (2, 0))
print(json.dumps({"hits": sum(astar.run._cache_hits.values()), "misses": sum(astar.run._cache_misses.values())}))
"""


def test_a_second_process_compiles_nothing(tmp_path) -> None:
    first = in_a_process(LOOK_UP, NUMBA_CACHE_DIR=str(tmp_path))
    second = in_a_process(LOOK_UP, NUMBA_CACHE_DIR=str(tmp_path))
    assert (first, second) == ({"hits": 0, "misses": 1}, {"hits": 1, "misses": 0})


OUT_OF_BOUNDS = """
import json
import numpy as np
from wend.search.reservations import make_reservations, reserve, reserve_way
table = make_reservations(4, 4)
caught = 0
for cell in (9, -1):
    try:
        reserve_way(table, np.array([1, cell], np.int32), 0, 1, 0)      # it calls `reserve`
    except IndexError:
        caught += 1
print(json.dumps({"caught": caught}))
"""


def test_bounds_are_checked_in_parts_compiled_and_loaded(tmp_path) -> None:
    """Below 0 too, where an array of NumPy has its last items."""
    for _ in ("compiled", "loaded"):
        assert in_a_process(OUT_OF_BOUNDS, NUMBA_CACHE_DIR=str(tmp_path), NUMBA_BOUNDSCHECK="1") == {"caught": 2}


def test_a_kernel_that_counts_from_the_end_of_an_array_is_not_compiled() -> None:
    @uncached
    def last(values):
        return values[-1]

    @uncached
    def last_of_first(values):
        return values[0, -1]

    for kernel, given in ((last, np.arange(2)), (last_of_first, np.zeros((2, 2)))):
        with pytest.raises(numba.TypingError, match="from the front"):
            kernel(given)


def test_arrays_are_indexed_with_numbers_of_any_kind_with_several_and_with_slices() -> None:
    @uncached
    def moved(table, values, x, y):
        table[x, y] = values[x] + values[1:][y]
        table[1][np.uint8(2)] = values[np.int32(2)]
        return table[y, x]

    table, values = np.zeros((3, 3)), np.arange(4.0)
    assert moved(table, values, 2, np.int32(0)) == 0
    assert table.tolist() == [[0, 0, 0], [0, 0, 2], [3, 0, 0]]


def test_an_untested_numba_falls_back_to_njit(monkeypatch, caplog) -> None:
    monkeypatch.setattr(numba, "__version__", f"0.{TESTED[1][1]}.0")
    with caplog.at_level(logging.WARNING, logger="wend"):
        compile_it, write_down = compiling._choose_compiler()
    compiled, bundle = compile_it(lambda x: x + 1), (1, 2)
    assert not isinstance(compiled, Kernel)
    assert write_down(bundle) is bundle
    assert compiled(1) == 2
    assert "tested" in caplog.text


def test_kernels_can_be_passed_to_kernels_and_the_whole_can_be_cached_all_the_same() -> None:
    @uncached
    def add(values, k):
        return values[0] + k

    @uncached
    def subtract(values, k):
        return values[0] - k

    @uncached
    def sum_of(values, how, count):
        total = 0
        for k in range(count):
            total += how(values, k)
        return total

    @uncached
    def both_ways(values, count):
        return sum_of(values, add, count) * sum_of(values, subtract, count)

    assert both_ways(np.array([10]), 4) == 46 * 34
    assert not both_ways.overloads[both_ways.signatures[0]].library.has_dynamic_globals     # these are never cached


class Inner(NamedTuple):
    values: np.ndarray
    flag: bool


class Outer(NamedTuple):
    first: Inner
    number: int
    second: Inner
    table: np.ndarray


def test_bundles_are_passed_by_address_and_read_as_they_were_given() -> None:
    @uncached
    def total(inner, k):
        return inner.values[k] if inner.flag else -inner.values[k]

    @uncached
    def mixed(outer, number):
        return 1000 * total(outer.first, 1) + 10 * total(outer.second, 1) + number

    @uncached
    def exchanged(outer):
        answer = 0
        for k in range(3):                                  # each time, another one is written down
            turned = Outer(outer.second, outer.number + k, Inner(outer.table[k], k == 1), outer.table)
            answer = 10 * answer + mixed(turned, turned.number)
        return answer

    table = np.arange(6, dtype=np.int32).reshape(3, 2)
    given = Outer(Inner(np.array([1, 2]), True), 7, Inner(np.array([3.5, 4.5]), False), table)
    answers = mixed(given, 5), exchanged(given)
    assert [len(kernel.overloads) for kernel in (total, mixed, exchanged)] == [0, 1, 1]
    assert mixed.signatures == [tuple(map(numba.typeof, (given, 5)))]       # Python finds it by what it passes
    assert answers == (2000 - 45 + 5, exchanged.py_func(given))


def test_a_bundle_that_is_kept_is_read_as_the_bundle_is() -> None:
    @uncached
    def total(outer, k):
        outer.table[k, 0] += 1
        inner = outer.first if k == 0 else outer.second
        return outer.number * 100 + 10 * inner.values[k] + inner.flag + outer.table[k, 0] + outer.table.shape[1]

    table = np.arange(12, dtype=np.int32).reshape(3, 4)[:, :3]      # with strides of its own
    given = Outer(Inner(np.array([1, 2]), True), 7, Inner(np.array([3, 4]), False), table)
    kept = WrittenBundle(given)
    plain, by_address = [total(given, k) for k in (0, 1)], [total(kept, k) for k in (0, 1)]
    assert by_address == [answer + 1 for answer in plain]           # which kernels have added to the table
    assert len(total.overloads) == 1                                # they are of one type
    assert compiling.prepared(total)(kept, 1) == plain[1] + 2
    with pytest.raises(TypeError):
        compiling.prepared(total)("neither of them", 1)


def test_a_kept_bundle_is_written_down_again_when_a_part_of_it_is_another() -> None:
    keeping, made = compiling.Keeping(), []

    def make() -> Inner:
        made.append(Inner(values, True))
        return made[-1]

    values = np.arange(3)
    first = keeping.of((values, 1), make)
    assert keeping.of((values, 1), make) is first
    assert keeping.of((values.copy(), 1), make) is not first        # it is equal, and yet another array
    assert len(made) == 2
    for twin in (copy.deepcopy(keeping), pickle.loads(pickle.dumps(keeping))):
        twin.of((values, 1), make)
    assert len(made) == 4


def test_a_kernel_that_would_return_the_address_of_a_bundle_is_not_compiled() -> None:
    @uncached
    def second(outer):
        return outer.second

    @uncached
    def hidden(outer):
        return Outer(outer.first, 1, outer.second, outer.table)

    @uncached
    def through_a_part(outer):
        return hidden(outer).number

    given = Outer(Inner(np.arange(2), True), 7, Inner(np.arange(2), False), np.zeros((2, 2)))
    for kernel in (second, hidden, through_a_part):
        with pytest.raises(numba.TypingError, match="must not return a bundle"):
            kernel(given)


def test_a_prepared_kernel_answers_as_the_kernel_does(kernels) -> None:
    _, by_range, _ = kernels
    expected = by_range(np.arange(5))
    ready = compiling.prepared(by_range)
    assert ready is not by_range
    assert ready(np.arange(5)) == expected
    by_range(np.arange(5.0))
    assert compiling.prepared(by_range) is by_range         # it would be one of two

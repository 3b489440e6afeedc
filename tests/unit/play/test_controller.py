"""The controller: its states, and what becomes of a scene that fails, hangs or is left."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.unit.play.loops import run_to_its_end
from wend.errors import ParameterError
from wend.planners import registry
from wend.planners.base import Budget, Planner, Proposal
from wend.play import controller as module
from wend.play.catalogue import Catalogue, Recipe
from wend.play.controller import BROKEN, BUILDING, PAUSED, RESTING, RUNNING, TRANSITIONS, Controller
from wend.play.messages import PlayLimits

pytestmark = pytest.mark.usefixtures("compiled")

STATES = (BUILDING, RUNNING, PAUSED, RESTING, BROKEN)
HANGS = threading.Event()       # a planner of the test hangs until this is set
IS_HANGING = threading.Event()  # it does


@dataclass
class Fails(Planner):
    """A planner that fails in its third tick."""

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        if self.state.tick == 2:
            raise ZeroDivisionError("as it was meant to")


@dataclass
class Hangs(Planner):
    """A planner whose second tick takes for ever."""

    def plan(self, proposal: Proposal, budget: Budget) -> None:
        if self.state.tick == 1:
            IS_HANGING.set()
            HANGS.wait(600)


@pytest.fixture(autouse=True)
def _own_planners(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, planner in (("fails", Fails), ("hangs", Hangs)):
        entry = registry.Algorithm(name, name, "", "", None, f"{planner.__module__}:{planner.__name__}")
        monkeypatch.setitem(registry.ALGORITHMS, name, entry)
        monkeypatch.setattr(registry.Algorithm, "planner_class", _class_of)
    monkeypatch.setattr("wend.play.controller.warm_up", lambda _: 0.0)


def _class_of(entry: registry.Algorithm) -> type[Planner]:
    own = {"fails": Fails, "hangs": Hangs}
    if entry.key in own:
        return own[entry.key]
    found: type[Planner] = registry.plugins.load(entry.where, registry.plugins.PLANNER)
    return found


def recipe(algorithm: str) -> Recipe:
    return Recipe(map="open:width=8,height=8", problem="random", agents=3, algorithm=algorithm)


def played(algorithm: str, play: Callable[[Controller], Awaitable[None]]) -> None:
    """Play a scene with a watcher, fast."""

    async def run() -> None:
        limits = PlayLimits()
        controller = Controller(Catalogue(limits), limits, ticks_per_second=120)
        controller.start(recipe(algorithm))
        controller.subscribe(lambda: None, lambda text: said.append(text))
        await until(controller, lambda: controller.picture is not None)
        await play(controller)
        await controller.close()

    said.clear()
    run_to_its_end(run())


said: list[str] = []


async def until(controller: Controller, is_so: Callable[[], bool]) -> None:
    for _ in range(30_000):         # a busy machine may take minutes for anything
        if is_so():
            return
        await asyncio.sleep(0.01)
    raise AssertionError((controller.state, said))


async def tick_of(controller: Controller) -> int:
    """Ticks made so far; one that is under way is made by then."""
    found: int = await controller.do(lambda scene: scene.ticks, changes=False)
    return found


def test_every_state_can_be_reached_and_left_and_the_table_names_no_other() -> None:
    assert {state for state, _ in TRANSITIONS} == set(STATES)
    assert {after for after in TRANSITIONS.values() if after is not None} == set(STATES)
    for state in STATES:
        assert any(after != state for (before, _), after in TRANSITIONS.items() if before == state)


def test_a_scene_runs_until_all_are_home_and_wakes_for_an_order() -> None:
    async def play(controller: Controller) -> None:
        await until(controller, lambda: controller.state == RESTING)
        assert controller.picture is not None
        tick = controller.picture.tick
        await asyncio.sleep(0.1)
        assert controller.picture.tick == tick
        await controller.do(lambda scene: scene.order([0], (0, 0), "move"))
        await controller.do(lambda scene: scene.order([0], (7, 7), "move"))
        await until(controller, lambda: controller.picture is not None and controller.picture.tick > tick)
        await until(controller, lambda: controller.state == RESTING)

    played("lra", play)


def test_while_nobody_watches_no_tick_is_made() -> None:
    async def play(controller: Controller) -> None:
        controller.watchers = 0
        tick = await tick_of(controller)
        await asyncio.sleep(0.1)
        assert await tick_of(controller) == tick

    played("lra", play)


def test_steps_are_made_one_by_one_while_it_is_paused() -> None:
    async def play(controller: Controller) -> None:
        controller.pause()
        tick = await tick_of(controller)
        for _ in range(3):
            controller.step()
        await until(controller, lambda: controller.picture is not None and controller.picture.tick == tick + 3)
        assert controller.state == PAUSED
        controller.resume()
        assert controller.state == RUNNING

    played("lra", play)


def test_a_planner_that_fails_breaks_its_scene_and_not_the_server(caplog: pytest.LogCaptureFixture) -> None:
    async def play(controller: Controller) -> None:
        await until(controller, lambda: controller.state == BROKEN)
        assert said == ["The planner failed: ZeroDivisionError: as it was meant to. Start another scene."]
        controller.subscribe(lambda: None, late.append)
        assert late == said
        for refused in (controller.pause, controller.resume, controller.step):
            with pytest.raises(ParameterError, match="not possible now"):
                refused()
        with pytest.raises(ParameterError, match="it is broken"):
            await controller.do(lambda scene: scene.hold([0]))
        controller.new(recipe("lra"))
        await until(controller, lambda: controller.state == RESTING)

    late: list[str] = []
    played("fails", play)
    assert "a tick failed" in caplog.text


def test_a_scene_can_be_left_in_the_middle_of_a_tick_but_not_too_many() -> None:
    async def play(controller: Controller) -> None:
        try:
            for _ in range(2):
                await until(controller, IS_HANGING.is_set)
                IS_HANGING.clear()
                order = asyncio.create_task(controller.do(lambda scene: scene.hold([0])))
                await asyncio.sleep(0)      # it is asked for
                assert controller.picture is not None
                number = controller.picture.number
                controller.new(recipe("hangs"))
                await until(controller, lambda: controller.picture is not None and controller.picture.number != number)   # noqa: B023
                with pytest.raises(ParameterError, match="another scene has begun"):
                    await order
            await until(controller, IS_HANGING.is_set)
            with pytest.raises(ParameterError, match="still busy"):
                controller.new(recipe("lra"))
        finally:
            HANGS.set()
        await until(controller, lambda: not any(worker.is_alive for worker in controller._left))
        controller.new(recipe("lra"))
        await until(controller, lambda: controller.state == RESTING)

    HANGS.clear()
    IS_HANGING.clear()
    played("hangs", play)       # whose clock may be in the hanging tick before `play` begins


def test_an_order_that_fails_is_told_to_whoever_gave_it_only(caplog: pytest.LogCaptureFixture) -> None:
    async def play(controller: Controller) -> None:
        with pytest.raises(ParameterError):
            await controller.do(lambda scene: scene.hold([99]))
        assert caplog.text == ""
        with pytest.raises(ZeroDivisionError):
            await controller.do(lambda _: 1 // 0)
        assert "an order failed" in caplog.text
        await until(controller, lambda: controller.state == RESTING)

    played("lra", play)


def test_a_first_scene_that_cannot_be_built_is_explained_to_whoever_comes() -> None:
    async def run() -> None:
        limits = PlayLimits()
        controller = Controller(Catalogue(limits), limits)
        controller.start(replace(recipe("lra"), agents=65))
        await until(controller, lambda: controller.state == BROKEN)
        controller.subscribe(lambda: None, told.append)
        await controller.close()

    told: list[str] = []
    run_to_its_end(run())
    assert len(told) == 1
    assert told[0].startswith("no new scene: 65 agents")


def test_only_so_many_algorithms_are_loaded_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    may_go_on = threading.Event()

    async def play(controller: Controller) -> None:
        monkeypatch.setattr(module, "_loaded", lambda planner, _: may_go_on.wait(600) and planner)
        changes = [asyncio.create_task(controller.change_algorithm(0, "lra", {"noise": k})) for k in range(4)]
        await asyncio.sleep(0)
        with pytest.raises(ParameterError, match="other algorithms are still being loaded"):
            await controller.change_algorithm(0, "pibt", {})
        may_go_on.set()
        assert len(await asyncio.gather(*changes)) == 4
        await controller.change_algorithm(0, "pibt", {})

    played("lra", play)


def test_whoever_comes_while_kernels_are_compiled_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    build, may_go_on = module._built, threading.Event()

    def compile_and_build(*given: Any) -> Any:
        given[-1]()
        assert may_go_on.wait(600)
        return build(*given)

    async def run() -> None:
        limits = PlayLimits()
        controller = Controller(Catalogue(limits), limits)
        controller.subscribe(lambda: None, early.append)
        controller.start(recipe("lra"))
        await until(controller, lambda: bool(early))
        controller.subscribe(lambda: None, late.append)
        may_go_on.set()
        await until(controller, lambda: controller.picture is not None)
        controller.subscribe(lambda: None, too_late.append)
        await controller.close()

    early: list[str] = []
    late: list[str] = []
    too_late: list[str] = []
    monkeypatch.setattr(module, "_built", compile_and_build)
    run_to_its_end(run())
    assert [len(early), len(late), len(too_late)] == [1, 1, 0]
    assert late[0].startswith("Compiling kernels")

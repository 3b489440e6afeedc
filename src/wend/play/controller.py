"""The controller: which scene is played, whether its clock runs, and what is done to it between two ticks.

It lives in the event loop. Worlds are only ever touched in a worker's thread (worker.py): the controller hands over
what is to be done, waits for the picture that comes back, and wakes those who show it. Its states are declared below;
what is not in the table is refused.

    building    the first scene, or another one, is being built
    running     ticks are made, while anybody is watching
    paused      ticks are made by hand
    resting     all units are home and nothing moves: nothing to do until somebody does something
    broken      a planner failed; only another scene helps
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from wend.errors import ParameterError, WendError
from wend.kernel.compiling import compiling_told
from wend.planners.base import Planner
from wend.play.catalogue import Catalogue, Recipe
from wend.play.messages import PlayLimits
from wend.play.scene import LivePicture, LiveScene
from wend.play.worker import Worker
from wend.world.warming import warm_up

BUILDING, RUNNING, PAUSED, RESTING, BROKEN = "building", "running", "paused", "resting", "broken"

# What happens in which state, and the state after it. None: the state that it was in before it began to build.
TRANSITIONS: dict[tuple[str, str], str | None] = {
    (BUILDING, "built"): RUNNING,
    (BUILDING, "not built"): None,
    (RUNNING, "pause"): PAUSED,
    (RUNNING, "step"): PAUSED,
    (RUNNING, "resume"): RUNNING,
    (RUNNING, "at rest"): RESTING,
    (PAUSED, "pause"): PAUSED,
    (PAUSED, "step"): PAUSED,
    (PAUSED, "resume"): RUNNING,
    (PAUSED, "at rest"): PAUSED,
    (RESTING, "pause"): PAUSED,
    (RESTING, "step"): PAUSED,
    (RESTING, "resume"): RESTING,
    (RESTING, "at rest"): RESTING,
    (RESTING, "changed"): RUNNING,
    **{(state, "changed"): state for state in (RUNNING, PAUSED)},
    **{(state, "new"): BUILDING for state in (RUNNING, PAUSED, RESTING, BROKEN)},
    **{(state, "failed"): BROKEN for state in (RUNNING, PAUSED, RESTING)},
}

_COMPILING = "Compiling kernels, once for this version of Wend: about half a minute for a first algorithm …"
_MOST_LEFT = 2      # scenes that were left in the middle of a tick
_MOST_LOADING = 4   # algorithms whose kernels are being loaded, each in a thread of its own

_log = logging.getLogger("wend.play")


class Deed(NamedTuple):
    """Something that is done to a scene between two ticks."""

    do: Callable[[LiveScene], Any]
    answer: asyncio.Future[Any]
    changes: bool                   # whether there is anything new to be seen afterwards


class Controller:
    """One scene after the other, for any number of watchers."""

    def __init__(self, catalogue: Catalogue, limits: PlayLimits, *, ticks_per_second: float = 10.0) -> None:
        self.catalogue = catalogue
        self.limits = limits
        self.state = BUILDING
        self.ticks_per_second = ticks_per_second
        self.picture: LivePicture | None = None
        self.watchers = 0                               # those who want to see ticks
        self.is_described = asyncio.Event()             # all planners are imported: clients can be told of them
        self._state_before = BROKEN                     # it began to build; there is none before the first scene
        self._changed: set[Callable[[], None]] = set()
        self._noticed: set[Callable[[str], None]] = set()
        self._is_compiling = False                      # whoever comes meanwhile is told, too
        self._trouble = ""                              # why there is nothing to play; whoever comes is told, too
        self._loading = 0                               # algorithms whose kernels are being loaded
        self._deeds: list[Deed] = []
        self._wake = asyncio.Event()
        self._steps = 0                                 # ticks that were asked for by hand
        self._due = 0.0                                 # when the next tick is, by the loop's clock
        self._worker: Worker | None = None
        self._left: list[Worker] = []
        self._playing: asyncio.Task[None] | None = None
        self._building: asyncio.Task[None] | None = None

    # --- what watchers call ----------------------------------------------------------------------------------------

    def subscribe(self, changed: Callable[[], None], noticed: Callable[[str], None]) -> Callable[[], None]:
        """Have functions called when there is a new picture or state, and when there is something to say.

        The answer takes it back. The clock runs while anybody watches.
        """
        self._changed.add(changed)
        self._noticed.add(noticed)
        self.watchers += 1
        self._wake.set()
        if self._is_compiling:
            noticed(_COMPILING)
        elif self.state == BROKEN:
            noticed(self._trouble)

        def unsubscribe() -> None:
            self._changed.discard(changed)
            self._noticed.discard(noticed)
            self.watchers -= 1

        return unsubscribe

    def start(self, recipe: Recipe) -> None:
        """Build the first scene."""
        self._building = asyncio.create_task(self._build(recipe))

    def new(self, recipe: Recipe) -> None:
        """Build another scene, and play it when it is ready."""
        self.catalogue.check(recipe)
        self._left = [worker for worker in self._left if worker.is_alive]
        if len(self._left) >= _MOST_LEFT:
            raise ParameterError("the server is still busy with ticks of scenes that were left; try again later")
        self._state_before = self.state
        self._enter("new")
        self._building = asyncio.create_task(self._build(recipe))

    def pause(self) -> None:
        """Make no more ticks."""
        self._enter("pause")

    def resume(self) -> None:
        """Make ticks."""
        self._enter("resume")
        self._wake.set()

    def step(self) -> None:
        """Make a single tick."""
        self._enter("step")
        self._steps += 1
        self._wake.set()

    def set_speed(self, ticks_per_second: float) -> None:
        """Say how fast time passes."""
        self.ticks_per_second = ticks_per_second
        self._due = 0.0
        self._wake.set()
        self._tell()

    async def do(self, what: Callable[[LiveScene], Any], *, changes: bool = True) -> Any:
        """Do something to the scene between two ticks, and return what it answers."""
        if self.picture is None or self.state not in (RUNNING, PAUSED, RESTING):
            raise ParameterError(f"there is no scene to do this to: it is {self.state}")
        if len(self._deeds) >= self.limits.waiting:
            raise ParameterError(f"{len(self._deeds)} orders wait for the next tick already")
        if changes:
            self._enter("changed")
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._deeds.append(Deed(what, future, changes))
        self._wake.set()
        return await future

    async def close(self) -> None:
        """Stop everything."""
        for task in (self._building, self._playing):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
        if self._worker is not None:
            self._worker.retire()

    # --- the clock -------------------------------------------------------------------------------------------------

    async def _play(self, scene: LiveScene, worker: Worker) -> None:
        """Play a scene until it is replaced."""
        while True:
            is_due = await self._until_due()
            deeds, self._deeds = self._deeds, []
            if not deeds and not is_due:
                continue
            try:
                picture, is_at_rest = await worker.call(_advance, scene, deeds, is_due)
            except asyncio.CancelledError:
                _drop(deeds)
                raise
            except Exception as error:
                _log.exception("a tick failed")
                self._break("failed", f"The planner failed: {type(error).__name__}: {error}. Start another scene.")
                return
            if picture is None:
                continue
            self.picture = picture
            if is_at_rest and self.state == RUNNING and not self._deeds:
                self._enter("at rest")
            self._tell()

    async def _until_due(self) -> bool:
        """Wait until a tick is due, or something else is to be done; say whether it is a tick."""
        now = asyncio.get_running_loop().time
        while True:
            self._wake.clear()
            if self._steps:
                self._steps -= 1
                return True
            is_ticking = self.state == RUNNING and self.watchers > 0
            if is_ticking and now() >= self._due:
                self._due = max(self._due + 1 / self.ticks_per_second, now())       # what was missed is not made up for
                return True
            if self._deeds:
                return False
            with contextlib.suppress(TimeoutError):     # not `wait_for`, which may swallow that it is cancelled
                async with asyncio.timeout(self._due - now() if is_ticking else None):
                    await self._wake.wait()

    # --- building --------------------------------------------------------------------------------------------------

    async def _build(self, recipe: Recipe) -> None:
        worker = Worker()
        try:
            await worker.call(self.catalogue.algorithms)
            self.is_described.set()
            scene, picture = await worker.call(_built, recipe, self.catalogue, self.limits, self._compiling_told())
        except asyncio.CancelledError:
            worker.retire()
            raise
        except Exception as error:
            worker.retire()
            if not isinstance(error, WendError):
                _log.exception("a scene could not be built")
            self._break("not built", f"no new scene: {error}")
            return
        finally:
            self._is_compiling = False
        self._leave()
        self._worker, self.picture, self._steps, self._due = worker, picture, 0, 0.0
        self._enter("built")
        self._playing = asyncio.create_task(self._play(scene, worker))

    async def change_algorithm(self, pane: int, key: str, parameters: dict[str, Any]) -> str:
        """Let another algorithm move the units of a pane; the clock runs on while its kernels are loaded."""
        planner = self.catalogue.planner(key, parameters)
        if self._loading >= _MOST_LOADING:
            raise ParameterError("other algorithms are still being loaded; try again in a moment")
        self._loading += 1
        worker = Worker()
        try:
            await worker.call(_loaded, planner, self._compiling_told())
        finally:
            worker.retire()
            self._loading -= 1
            self._is_compiling = False
        said: str = await self.do(lambda scene: scene.change_algorithm(pane, key, parameters, planner))
        return said

    def _leave(self) -> None:
        """Leave the scene that is played; a tick that is under way ends by itself."""
        if self._playing is not None:
            self._playing.cancel()
        if self._worker is not None:
            self._worker.retire()
            self._left.append(self._worker)
        _drop(self._deeds)
        self._deeds = []

    def _compiling_told(self) -> Callable[[], None]:
        """What to call, in any thread, before a kernel is compiled: the first time, everybody is told."""
        loop, has_said = asyncio.get_running_loop(), threading.Event()

        def say() -> None:
            self._is_compiling = True
            self.notice(_COMPILING)

        def tell() -> None:
            if not has_said.is_set():
                has_said.set()
                loop.call_soon_threadsafe(say)

        return tell

    # --- telling ---------------------------------------------------------------------------------------------------

    def notice(self, text: str) -> None:
        """Say something to everybody."""
        for noticed in list(self._noticed):
            noticed(text)

    def _break(self, what: str, why: str) -> None:
        """Something failed: say so, and to those who come later if there is nothing to play now."""
        self._enter(what)
        self._trouble = why
        self.notice(why)

    def _enter(self, what: str) -> None:
        """Go to the state that follows when something happens, or refuse it."""
        if (self.state, what) not in TRANSITIONS:
            raise ParameterError(f"not possible now: {what} while {self.state}")
        after = TRANSITIONS[self.state, what]
        self.state = self._state_before if after is None else after
        self._tell()

    def _tell(self) -> None:
        for changed in list(self._changed):
            changed()


def _advance(scene: LiveScene, deeds: list[Deed], is_due: bool) -> tuple[LivePicture | None, bool]:
    """Do what is to be done between two ticks, make a tick if one is due, and look, if there is anything new to see.

    In a worker's thread.
    """
    for deed in deeds:
        answer, error = None, None
        try:
            answer = deed.do(scene)
        except Exception as raised:
            error = raised
            if not isinstance(raised, WendError):
                _log.exception("an order failed")
        deed.answer.get_loop().call_soon_threadsafe(_settle, deed.answer, answer, error)
    if is_due:
        scene.tick()
    has_news = is_due or any(deed.changes for deed in deeds)
    return scene.picture() if has_news else None, scene.is_at_rest()


def _drop(deeds: list[Deed]) -> None:
    """Say that these will not be done any more."""
    for deed in deeds:
        _settle(deed.answer, None, ParameterError("another scene has begun"))


def _settle(future: asyncio.Future[Any], answer: Any, error: Exception | None) -> None:
    if not future.done():
        if error is None:
            future.set_result(answer)
        else:
            future.set_exception(error)


_warm: set[Any] = set()     # kinds of planners, with their parameters, whose kernels have been loaded


def _loaded(planner: Planner, tell: Callable[[], None]) -> Planner:
    """A planner whose kernels are loaded; `tell` is called if they have to be compiled. In a worker's thread."""
    kind = type(planner), repr(planner)
    if kind not in _warm:
        with compiling_told(tell):
            warm_up(planner)
        _warm.add(kind)
    return planner


def _built(
    recipe: Recipe, catalogue: Catalogue, limits: PlayLimits, tell: Callable[[], None]
) -> tuple[LiveScene, LivePicture]:
    """Load the kernels, and make a scene. In a worker's thread."""
    grid = catalogue.grid(recipe)
    planners = [_loaded(catalogue.planner(key, parameters), tell) for key, parameters in recipe.algorithms]
    scene = LiveScene(recipe, grid, planners, limits)
    return scene, scene.picture()

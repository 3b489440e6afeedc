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
import functools
import logging
from collections.abc import Callable
from typing import Any

from wend.errors import ParameterError, WendError
from wend.kernel.compiling import compiling_told
from wend.play.catalogue import Catalogue, Recipe
from wend.play.messages import PlayLimits
from wend.play.scene import Picture, Scene, build
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

_MOST_LEFT = 2      # scenes that were left in the middle of a tick

_log = logging.getLogger("wend.play")

Deed = Callable[[Scene], Any]       # what is done to a scene between two ticks, and what is answered


class Controller:
    """One scene after the other, for any number of watchers."""

    def __init__(self, catalogue: Catalogue, limits: PlayLimits, *, ticks_per_second: float = 10.0) -> None:
        self.catalogue = catalogue
        self.limits = limits
        self.state = BUILDING
        self.ticks_per_second = ticks_per_second
        self.picture: Picture | None = None
        self.watchers = 0                               # those who want to see ticks
        self._state_before = BROKEN                     # it began to build; there is none before the first scene
        self._changed: set[Callable[[], None]] = set()
        self._noticed: set[Callable[[str], None]] = set()
        self._deeds: list[tuple[Deed, asyncio.Future[Any]]] = []
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

    async def do(self, deed: Deed, *, changes: bool = True) -> Any:
        """Do something to the scene between two ticks, and return what it answers."""
        if self.picture is None or self.state not in (RUNNING, PAUSED, RESTING):
            raise ParameterError(f"there is no scene to do this to: it is {self.state}")
        if len(self._deeds) >= self.limits.waiting:
            raise ParameterError(f"{len(self._deeds)} orders wait for the next tick already")
        if changes:
            self._enter("changed")
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._deeds.append((deed, future))
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

    async def _play(self, scene: Scene, worker: Worker) -> None:
        """Play a scene until it is replaced."""
        while True:
            is_due = await self._until_due()
            deeds, self._deeds = self._deeds, []
            if not deeds and not is_due:
                continue
            try:
                picture, is_at_rest = await worker.call(_advance, scene, deeds, is_due)
            except asyncio.CancelledError:
                for _, future in deeds:
                    future.cancel()
                raise
            except Exception as error:
                _log.exception("a tick failed")
                self.notice(f"{type(error).__name__}: {error}")
                self._enter("failed")
                return
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
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), self._due - now() if is_ticking else None)

    # --- building --------------------------------------------------------------------------------------------------

    async def _build(self, recipe: Recipe) -> None:
        worker, loop = Worker(), asyncio.get_running_loop()

        def tell() -> None:
            loop.call_soon_threadsafe(self._say_compiling)

        self._is_compiling_said = False
        try:
            scene, picture = await worker.call(_built, recipe, self.catalogue, self.limits, tell)
        except asyncio.CancelledError:
            worker.retire()
            raise
        except Exception as error:
            worker.retire()
            if not isinstance(error, WendError):
                _log.exception("a scene could not be built")
            self.notice(f"no new scene: {error}")
            self._enter("not built")
            return
        self._leave()
        self._worker, self.picture, self._steps, self._due = worker, picture, 0, 0.0
        self._enter("built")
        self._playing = asyncio.create_task(self._play(scene, worker))

    def _leave(self) -> None:
        """Leave the scene that is played; a tick that is under way ends by itself."""
        if self._playing is not None:
            self._playing.cancel()
        if self._worker is not None:
            self._worker.retire()
            self._left.append(self._worker)
        for _, future in self._deeds:
            future.cancel()
        self._deeds = []

    def _say_compiling(self) -> None:
        if not self._is_compiling_said:
            self._is_compiling_said = True
            self.notice("compiling kernels, once for this version of Wend; 10 to 30 s for a first algorithm ...")

    # --- telling ---------------------------------------------------------------------------------------------------

    def notice(self, text: str) -> None:
        """Say something to everybody."""
        for noticed in list(self._noticed):
            noticed(text)

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


def _advance(scene: Scene, deeds: list[tuple[Deed, asyncio.Future[Any]]], is_due: bool) -> tuple[Picture, bool]:
    """Do what is to be done between two ticks, make a tick if one is due, and look. In a worker's thread."""
    for deed, future in deeds:
        try:
            answer: Any = deed(scene)
            error: Exception | None = None
        except Exception as raised:
            answer, error = None, raised
            if not isinstance(raised, WendError):
                _log.exception("an order failed")
        future.get_loop().call_soon_threadsafe(functools.partial(_settle, future, answer, error))
    if is_due:
        scene.tick()
    return scene.picture(), scene.is_at_rest()


def _settle(future: asyncio.Future[Any], answer: Any, error: Exception | None) -> None:
    if not future.done():
        if error is None:
            future.set_result(answer)
        else:
            future.set_exception(error)


_warm: set[tuple[str, str]] = set()     # algorithms and parameters whose kernels have been loaded


def _built(
    recipe: Recipe, catalogue: Catalogue, limits: PlayLimits, tell: Callable[[], None]
) -> tuple[Scene, Picture]:
    """Load the kernels, and make a scene. In a worker's thread."""
    catalogue.check(recipe)
    with compiling_told(tell):
        for key, parameters in recipe.algorithms:
            if (key, repr(parameters)) not in _warm:
                warm_up(catalogue.planner(key, parameters))
                _warm.add((key, repr(parameters)))
        scene = build(recipe, catalogue, limits)
    return scene, scene.picture()

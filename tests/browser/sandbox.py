"""The sandbox for tests: its server in a thread, and its page as a reader handles it."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from wend.play.catalogue import Recipe

PATIENCE_S = 300.0      # a busy machine may take that long for anything
MOVING, WAITING, HOME, STUCK, GONE = range(5)


@contextlib.contextmanager
def serving(recipe: Recipe, port: int = 0) -> Iterator[str]:
    """Serve a scene on the loopback address; the answer is where. Skips the test if there is nothing to serve with."""
    for package in ("uvicorn", "starlette"):
        pytest.importorskip(package, reason="needs the extra `viewer` to serve the sandbox")
    from wend.play import server

    with server.serving(recipe, port=port) as address:
        yield address.url


SLOWEST = 0.1           # ticks per second

# What the page says is not over by itself, however late it is looked at; and all that it has said is kept.
KEEP_WORDS = """
() => {
  const { say } = wendPlay;
  wendPlay.say = (words, milliseconds) => say.call(wendPlay, words, milliseconds === Infinity ? Infinity : 1e9);
  const message = document.getElementById("message");
  globalThis.said = [];
  new MutationObserver(() => said.push(message.textContent)).observe(message, { childList: true });
}
"""

# The world's tick, by the answer to a question: whatever tick was under way is made by then.
ASK_TICK = """
() => new Promise((resolve) => {
  const { heard } = wendPlay;
  wendPlay.heard = (message) => {
    heard.call(wendPlay, message);
    if (message.type !== "why" || message.agent !== 0 || message.pane !== 0) return;
    wendPlay.heard = heard;
    resolve(message.tick);
  };
  wendPlay.link.send({ type: "why", pane: 0, agent: 0 });
})
"""


class Sandbox:
    """The page. Waiting is always for something that is to become true, and never for a time.

    What happens on the page by itself, a frame or an answer, may come at any time: `until` waits for it. Where it
    matters at which tick something is done, the clock is stopped there (`stand_at`).
    """

    def __init__(self, page: Any) -> None:
        self.page = page
        self.until("globalThis.wendPlay?.panes[0]?.units.tick >= 0")
        self.page.evaluate(KEEP_WORDS)

    def get(self, expression: str) -> Any:
        return self.page.evaluate(expression)

    def until(self, expression: str) -> Any:
        """Wait until an expression of JavaScript is true. The page's policy forbids Playwright's own way to do it."""
        end = time.monotonic() + PATIENCE_S
        while not (found := self.get(expression)):
            assert time.monotonic() < end, f"still not true: {expression}; the page says: {self.text('#message')}"
            self.page.wait_for_timeout(30)
        return found

    def text(self, selector: str) -> str:
        return str(self.page.inner_text(selector))

    def says(self, words: str) -> None:
        """Wait until the page's message has said this, since it was opened."""
        self.until(f"said.some((each) => each.includes({json.dumps(words)}))")

    def begin(self, *, speed: float = 10, **recipe: Any) -> None:
        """Start a scene, and wait for its first frame. Tests that are about the menu use the menu."""
        self.page.evaluate(f"wendPlay.orders.send('speed', {{ ticks_per_second: {speed} }})")
        scene = self.get("wendPlay.scene.scene")
        plain = {"parameters": {}, "versus": None, "versus_parameters": {}}
        self.page.evaluate("(recipe) => wendPlay.begin({ ...wendPlay.recipe, ...recipe })", {**plain, **recipe})
        self.until(f"wendPlay.scene.scene !== {scene} && wendPlay.panes.every((pane) => pane.units.tick >= 0)")

    def rest(self) -> None:
        """Wait until all units are home and the last frame is here."""
        self.until(
            f"""wendPlay.state === "resting" && (({{ units }}) => [...Array(units.count).keys()].every(
              (unit) => [{HOME}, {GONE}].includes(units.state(unit))))(wendPlay.panes[0])"""
        )

    def obey(self, act: Callable[[], object]) -> None:
        """Give an order to units that rest, and wait until it is carried out."""
        self.rest()
        tick = self.tick
        act()
        self.until(f"wendPlay.panes[0].units.tick > {tick}")
        self.rest()

    def pause(self) -> None:
        """Stop the clock, and wait until its last tick is here. Unit 0 must be there, and none selected."""
        self.page.keyboard.press("Space")
        self.until("wendPlay.state === 'paused'")
        tick = self.page.evaluate(ASK_TICK)
        self.until(f"wendPlay.panes.every(({{ units }}) => units.tick === {tick})")

    def stand_at(self, tick: int) -> None:
        """Stop the clock of a scene that was begun at the slowest speed at a tick: it is the same every time."""
        self.pause()
        assert self.tick <= tick
        self.page.evaluate(f"for (let tick = {self.tick}; tick < {tick}; tick += 1) wendPlay.orders.send('step')")
        self.until(f"wendPlay.panes.every(({{ units }}) => units.tick === {tick})")

    def let_go(self) -> None:
        """Select nothing, and wait until the card is off the map."""
        self.page.evaluate("wendPlay.selection.set([])")
        self.until("document.getElementById('card').classList.contains('empty')")

    @property
    def tick(self) -> int:
        return int(self.get("wendPlay.panes[0].units.tick"))

    def states(self, pane: int = 0) -> list[int]:
        states = "(({ units }) => [...Array(units.count).keys()].map((unit) => units.state(unit)))"
        return list(self.get(f"{states}(wendPlay.panes[{pane}])"))

    def cell(self, unit: int) -> tuple[int, int]:
        x, y = self.get(f"wendPlay.panes[0].units.cell({unit})")
        return x, y

    def place_of(self, cell: tuple[float, float], pane: int = 0) -> tuple[float, float]:
        """Where on the screen the middle of a cell is, once the page has settled."""
        x, y = self.until(
            f"""(({{ above, camera }}) => {{
              const box = above.getBoundingClientRect();
              const [wider, higher] = [above.clientWidth - camera.width, above.clientHeight - camera.height];
              if (Math.abs(wider) > 1 || Math.abs(higher) > 1) return null; // the camera does not know its stage yet
              return [box.x + camera.stageX({cell[0]} + 0.5), box.y + camera.stageY({cell[1]} + 0.5)];
            }})(wendPlay.panes[{pane}])"""
        )
        return x, y

    def click(self, cell: tuple[float, float], pane: int = 0, **how: Any) -> None:
        self.page.mouse.click(*self.place_of(cell, pane), **how)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        self.page.mouse.move(*self.place_of(start))
        self.page.mouse.down()
        self.page.mouse.move(*self.place_of(end), steps=4)
        self.page.mouse.up()

    def colour(self, name: str) -> list[int]:
        """One of the page's colours: red, green, blue, from 0 to 255."""
        return list(
            self.get(
                f"""(() => {{
                  const context = document.createElement("canvas").getContext("2d");
                  context.fillStyle = wendPlay.colours.{name};
                  context.fillRect(0, 0, 1, 1);
                  return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
                }})()"""
            )
        )

    def colour_at(self, cell: tuple[int, int]) -> list[int]:
        """The colour that is painted in the middle of a cell: red, green, blue, from 0 to 255."""
        return list(
            self.get(
                f"""(() => {{
                  const {{ painter, ground, above, camera }} = wendPlay.panes[0];
                  wendPlay.render(performance.now() + 1e6);
                  const x = Math.floor(camera.stageX({cell[0]} + 0.5) * camera.density);
                  const y = Math.floor(camera.stageY({cell[1]} + 0.5) * camera.density);
                  const pixel = new Uint8Array(4);
                  const {{ gl }} = painter;
                  if (gl) gl.readPixels(x, ground.height - 1 - y, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
                  else pixel.set(above.getContext("2d").getImageData(x, y, 1, 1).data);
                  return [...pixel.slice(0, 3)];
                }})()"""
            )
        )

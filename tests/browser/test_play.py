"""The sandbox in a browser: play, select, order, walls, versus, why, fingers, keys, and a server that goes away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.fingers import Fingers
from tests.browser.sandbox import GONE, HOME, SLOWEST, STUCK, WAITING, Sandbox, serving
from wend.play.catalogue import Recipe
from wend.world.warming import warm_up

JAM = Recipe("counterflow:width=1,length=8,room=6", "swap-sides", 12, 0, "lra")     # LRA* gets nobody through
MEADOW = {"map": "open:width=24,height=14", "problem": "random", "agents": 6, "seed": 1, "algorithm": "lra"}
PHONE = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}
JAMMED = 24                     # ticks after which six of them and more wait for one another, each in another way
PLAIN = "?painter=plain"        # as where there is no WebGL2: quicker without a graphics card


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where a server plays the jam. What its planners need is compiled before anything is waited for."""
    for algorithm in ("lra", "pibt", "whca"):
        warm_up(algorithm)
    with serving(JAM) as found:
        yield found


@pytest.fixture
def sandbox(open_page: Any, address: str) -> Sandbox:
    """The page, with the jam from its start."""
    found = Sandbox(open_page(address + PLAIN))
    found.begin(map=JAM.map, problem=JAM.problem, agents=JAM.agents, seed=0, algorithm="lra")
    return found


@pytest.fixture
def meadow(open_page: Any, address: str) -> Sandbox:
    """The page, with six units on a small map without walls, all at rest."""
    found = Sandbox(open_page(address + PLAIN))
    found.begin(speed=80, **MEADOW)
    found.rest()
    return found


def test_play_pause_step_and_speed(sandbox: Sandbox) -> None:
    sandbox.until("wendPlay.panes[0].units.tick > 3")
    sandbox.pause()
    tick = sandbox.tick
    sandbox.page.click("[data-command=step]")
    sandbox.until(f"wendPlay.panes[0].units.tick === {tick + 1}")
    sandbox.page.click("[data-command=faster]")
    sandbox.until("document.getElementById('speed').value === '20/s'")
    sandbox.page.click("[data-command=slower]")
    sandbox.until("document.getElementById('speed').value === '10/s'")
    assert sandbox.tick == tick + 1
    sandbox.page.click("#play")
    sandbox.until(f"wendPlay.panes[0].units.tick > {tick + 2}")


def test_units_are_painted_where_they_are_also_when_the_graphics_context_is_lost(open_page: Any, address: str) -> None:
    sandbox = Sandbox(open_page(f"{address}?painter=webgl"))        # also in software
    sandbox.begin(speed=80, **MEADOW)
    sandbox.rest()
    assert sandbox.get("wendPlay.panes[0].element.dataset.painter") == "webgl"
    home, floor = sandbox.colour("units[2]"), sandbox.colour("cells[0]")
    at, (x, y) = sandbox.cell(0), sandbox.cell(0)
    beside = next((x + dx, y) for dx in (-1, 1) if (x + dx, y) not in [sandbox.cell(unit) for unit in range(6)])
    sandbox.page.evaluate("globalThis.losing = wendPlay.panes[0].painter.gl.getExtension('WEBGL_lose_context')")
    for painter, act in (("webgl", ""), ("plain", "losing.loseContext()"), ("webgl", "losing.restoreContext()")):
        sandbox.page.evaluate(act)
        sandbox.until(f"wendPlay.panes[0].element.dataset.painter === '{painter}'")
        assert sandbox.colour_at(at) == pytest.approx(home, abs=2)
        assert sandbox.colour_at(beside) == pytest.approx(floor, abs=2)


def test_a_box_selects_and_a_right_click_sends(meadow: Sandbox) -> None:
    meadow.drag((0, 0), (23, 13))
    meadow.until("wendPlay.selection.size === 6")
    meadow.until("document.getElementById('card-title').textContent === '6 units'")
    meadow.obey(lambda: meadow.click((12, 7), button="right"))
    assert all(max(abs(x - 12), abs(y - 7)) <= 3 for x, y in map(meadow.cell, range(6)))
    meadow.click(meadow.cell(3))
    meadow.until("`${wendPlay.selection.list}` === '3'")
    meadow.page.keyboard.press("Escape")
    meadow.until("wendPlay.selection.size === 0")
    meadow.page.keyboard.press("a")
    meadow.says("Select units first")


def test_attack_follow_and_hold(meadow: Sandbox) -> None:
    meadow.page.keyboard.press("q")
    meadow.page.keyboard.press("a")
    meadow.until("wendPlay.tool === 'attack'")
    meadow.obey(lambda: meadow.click((3, 3)))
    assert meadow.get("wendPlay.tool") == "select"
    assert meadow.get("wendPlay.panes[0].units.group(0)") > 0       # it is one of a group now
    meadow.page.evaluate("wendPlay.selection.set([1, 2])")
    meadow.page.keyboard.press("h")
    meadow.until("(wendPlay.panes[0].units.flags(1) & wendPlay.panes[0].units.flags(2) & 16) > 0")   # pinned
    meadow.page.evaluate("wendPlay.selection.set([4])")
    meadow.page.keyboard.press("f")
    meadow.click(meadow.cell(0))
    meadow.until("wendPlay.panes[0].units.flags(4) & 8")        # it follows


def test_walls_are_drawn_and_erased_units_added_and_removed(meadow: Sandbox) -> None:
    meadow.page.keyboard.press("q")
    meadow.obey(lambda: meadow.click((3, 3), button="right"))
    meadow.page.click("[data-tool=wall]")
    meadow.drag((15, 2), (15, 11))
    wall = "[2, 5, 8, 11].every((y) => wendPlay.panes[0].cells[24 * y + 15] === %d)"
    meadow.until(wall % 1)
    meadow.click(meadow.cell(0))
    meadow.says("The cell stays free: a unit stands on it")
    order = "wendPlay.orders.send('order', { agents: [1], to: [8, 8], how: 'move' })"
    meadow.obey(lambda: meadow.page.evaluate(order))        # the clock runs and rests: what is said stays
    assert meadow.text("#message") == "The cell stays free: a unit stands on it"
    meadow.page.click("[data-tool=erase]")
    meadow.drag((15, 2), (15, 11))
    meadow.until(wall % 0)
    meadow.page.click("[data-tool=add]")
    meadow.click((20, 9))
    meadow.until("wendPlay.panes[0].units.count === 7")
    assert meadow.cell(6) == (20, 9)
    meadow.page.keyboard.press("s")
    meadow.click((20, 9))
    meadow.until("`${wendPlay.selection.list}` === '6'")
    meadow.page.keyboard.press("Delete")
    meadow.until(f"wendPlay.panes[0].units.state(6) === {GONE}")
    meadow.until("wendPlay.selection.size === 0")


def test_a_scene_from_the_menu_and_two_algorithms_side_by_side(sandbox: Sandbox) -> None:
    page = sandbox.page
    page.click("[data-command=menu]")
    page.select_option("#map-name", "counterflow")
    page.fill("#map-fields [name=length]", "5")
    page.select_option("#problem", "swap-sides")
    page.fill("#agents", "8")
    page.fill("#scene-seed", "3")
    page.select_option("#algorithm", "lra")
    page.select_option("#versus", "pibt")
    page.click("#scene-form [type=submit]")
    sandbox.until("wendPlay.panes.length === 2 && wendPlay.panes.every(({ units }) => units.tick > 3)")
    assert sandbox.get("wendPlay.scene.map") == "counterflow:length=5"
    sandbox.until("document.getElementById('seed').value === '3'")
    sandbox.until("((a, b) => Math.abs(a - b) <= 1)(...wendPlay.panes.map(({ above }) => above.clientWidth))")
    sandbox.until(f"[...Array(8).keys()].every((unit) => wendPlay.panes[1].units.state(unit) === {HOME})")
    assert set(sandbox.states(0)) != {HOME}
    sandbox.until("document.getElementById('verdict').textContent.includes('PIBT')")
    sandbox.until("document.querySelector('#curves figure span').textContent.endsWith('| 100 %')")
    page.mouse.move(*sandbox.place_of((5, 5), 1))
    page.mouse.wheel(0, -400)
    sandbox.until("!wendPlay.camera.fitted")
    assert sandbox.get("wendPlay.panes[0].camera === wendPlay.panes[1].camera")


def test_another_algorithm_takes_over_and_its_parameters_are_set_while_it_plays(sandbox: Sandbox) -> None:
    page = sandbox.page
    page.select_option(".algorithm", "pibt")
    sandbox.until("wendPlay.panes[0].title === 'PIBT'")
    sandbox.until(f"[...Array(12).keys()].every((unit) => wendPlay.panes[0].units.state(unit) === {HOME})")
    page.select_option(".algorithm", "whca")
    sandbox.until("wendPlay.panes[0].title === 'WHCA*'")
    page.click(".pane-head button")
    page.fill("#parameters [name=window]", "9")
    page.click("#parameters-form button")
    sandbox.until("wendPlay.scene.panes[0].parameters.window === 9")
    page.click(".pane-head button")
    assert page.input_value("#parameters [name=window]") == "9"


def test_the_heat_is_what_the_server_offers(sandbox: Sandbox) -> None:
    page = sandbox.page
    page.select_option(".algorithm", "pibt")
    sandbox.until("wendPlay.panes[0].title === 'PIBT'")
    offered = sandbox.get("wendPlay.scene.panes[0].overlays")
    assert sandbox.get("[...document.getElementById('heat').options].slice(1).map((option) => option.value)") == [
        overlay["name"] for overlay in offered
    ]
    page.select_option("#heat", "density")
    sandbox.until("wendPlay.panes[0].heat?.some((value) => value > 0)")
    of_agent = next(overlay["name"] for overlay in offered if overlay["of_agent"])
    page.select_option("#heat", of_agent)
    sandbox.says("Select a unit")
    page.evaluate("wendPlay.selection.set([3])")
    sandbox.until("wendPlay.panes[0].heat?.some((value) => value > 0)")
    page.select_option("#heat", "")
    sandbox.until("wendPlay.panes[0].heat === null")


def test_the_same_algorithm_twice_can_be_told_apart(sandbox: Sandbox) -> None:
    sandbox.begin(map=JAM.map, problem=JAM.problem, agents=12, seed=0, algorithm="lra", versus="lra")
    assert sandbox.get("wendPlay.panes.map(({ title }) => title)") == ["LRA* A", "LRA* B"]
    sandbox.until("wendPlay.panes[0].units.tick > 5")
    sandbox.pause()
    sandbox.until(                              # expansions: the same in both panes
        """(() => {
          const canvas = document.querySelector("#curves figure:nth-child(4) canvas");
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          const context = document.createElement("canvas").getContext("2d");
          return wendPlay.colours.curves.slice(0, 2).every((colour) => {
            context.fillStyle = colour;
            context.fillRect(0, 0, 1, 1);
            const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
            let pixels = 0;
            for (let i = 0; i < data.length; i += 4) {
              const far = Math.abs(data[i] - red) + Math.abs(data[i + 1] - green) + Math.abs(data[i + 2] - blue);
              pixels += data[i + 3] > 100 && far < 40;
            }
            return pixels > 20;
          });
        })()"""
    )


def test_the_curves_forget_what_is_long_ago(meadow: Sandbox) -> None:
    meadow.until("wendPlay.curves.rows.length > 0")
    rows = meadow.get("""(() => {
      const { curves } = wendPlay;
      const { last } = curves;
      const panes = curves.row(last);
      for (let tick = last + 1; tick <= last + 50000; tick += 7) curves.add(tick, panes);
      wendPlay.drawCurves();
      return [curves.rows.length, curves.last - curves.first + 1, curves.shown === curves.last];
    })()""")
    assert rows[0] == rows[1] <= 20_001
    assert rows[2]


def test_escape_closes_a_panel_and_keeps_the_selection(meadow: Sandbox) -> None:
    meadow.page.evaluate("wendPlay.selection.set([2])")
    for key, panel in (("n", "#menu"), ("?", "#help")):
        meadow.page.keyboard.press(key)
        meadow.page.locator(panel).wait_for()
        meadow.page.keyboard.press("Escape")
        meadow.page.locator(panel).wait_for(state="hidden")
    assert meadow.get("wendPlay.selection.list") == [2]


def test_the_seed_is_another_scene(meadow: Sandbox) -> None:
    before = [meadow.cell(unit) for unit in range(6)]
    scene = meadow.get("wendPlay.scene.scene")
    meadow.page.fill("#seed", "5")
    meadow.page.keyboard.press("Enter")
    meadow.until(f"wendPlay.scene.scene !== {scene} && wendPlay.scene.seed === 5 && wendPlay.panes[0].units.tick >= 0")
    assert [meadow.cell(unit) for unit in range(6)] != before


# --- five questions, each answered in at most three clicks ----------------------------------------------------------


@pytest.fixture
def jam(sandbox: Sandbox) -> Sandbox:
    """The jam when it is one, paused, in the same tick every time."""
    sandbox.begin(speed=SLOWEST, map=JAM.map, problem=JAM.problem, agents=JAM.agents, seed=0, algorithm="lra")
    sandbox.stand_at(JAMMED)
    assert sum(state in (WAITING, STUCK) for state in sandbox.states()) >= 6
    sandbox.page.evaluate("wendPlay.orders.send('speed', { ticks_per_second: 40 })")
    return sandbox


def standing(sandbox: Sandbox) -> int:
    """A unit that waits for another one."""
    for unit, state in enumerate(sandbox.states()):
        if state in (WAITING, STUCK):
            sandbox.page.evaluate(f"wendPlay.selection.set([{unit}])")
            chain = sandbox.until("wendPlay.why.answers[0]?.chain")
            sandbox.let_go()
            if len(chain) > 1:
                return unit
    pytest.fail("nobody waits for another one")


def test_why_does_this_unit_not_move_and_who_is_in_its_way(jam: Sandbox) -> None:
    unit = standing(jam)
    jam.click(jam.cell(unit))                                                               # 1
    answer = jam.until("wendPlay.why.answers[0]")
    jam.until("document.querySelector('#card .sentence').textContent === wendPlay.why.answers[0].sentence")
    assert answer["sentence"].startswith(f"Unit {unit} ")
    other = answer["chain"][1]["agent"]
    jam.until(f"document.querySelector('#card .chain button')?.textContent === '{other}'")
    assert f"unit {other}" in answer["sentence"]
    jam.page.click("#card .chain button >> nth=0")                                          # 2
    jam.until(f"wendPlay.selection.first === {other}")
    jam.until(f"document.getElementById('card-title').textContent === 'Unit {other}'")


def test_would_another_algorithm_have_got_it_through(jam: Sandbox) -> None:
    unit = standing(jam)
    jam.click(jam.cell(unit))                                                               # 1
    jam.page.select_option("#compare-with", "pibt")                                         # 2 and 3
    jam.until("wendPlay.panes.length === 2")
    told = "(document.querySelector('#card .comparison')?.textContent ?? '')"
    jam.until(f"{told}.startsWith('PIBT got unit {unit}') && {told}.includes('LRA* has not yet')")


def test_where_is_the_jam(jam: Sandbox) -> None:
    jam.page.click("[data-command=jam]")                                                    # 1
    jam.says("units stand there")
    x, y = jam.get("wendPlay.note.cell")
    near = [unit for unit in range(12) if max(abs(jam.cell(unit)[0] - x), abs(jam.cell(unit)[1] - y)) <= 4]
    assert len(near) >= 6
    jam.until("wendPlay.panes[0].heat?.some((value) => value > 0)")


def test_what_did_this_tick_cost(jam: Sandbox) -> None:
    told = "document.getElementById('cost').textContent"
    jam.until(f"{told}.startsWith(`Tick ${{wendPlay.panes[0].units.tick}} cost `)")        # 0
    assert " ms and " in jam.text("#cost")
    jam.page.click("#curves figure:nth-child(3) .chart", position={"x": 1, "y": 10})    # 1
    jam.until("document.getElementById('cost').textContent.startsWith('Tick 0 cost ')")


# --- fingers, keys, and a server that goes away ---------------------------------------------------------------------


def test_a_phone_two_fingers_zoom_a_tap_selects_a_long_press_sends(open_page: Any, address: str) -> None:
    phone = Sandbox(open_page(address + PLAIN, **PHONE))
    phone.begin(speed=80, **MEADOW)
    phone.rest()
    fingers = Fingers(phone.page)
    unit = next(u for u in range(6) if 2 < phone.cell(u)[0] < 21)
    place = phone.place_of(phone.cell(unit))
    phone.page.evaluate("wendPlay.pointers[0].pressLong = () => {}")    # a slow machine makes no long press of a tap
    fingers.move([place])
    phone.until(f"wendPlay.selection.first === {unit}")
    phone.page.evaluate("delete wendPlay.pointers[0].pressLong")
    phone.let_go()
    x, y = phone.place_of((12, 7))
    before = phone.get("wendPlay.camera.scale")
    fingers.move([(x - 30, y), (x + 30, y)], [(x - 45, y), (x + 45, y)], [(x - 60, y), (x + 60, y)])
    phone.until(f"Math.abs(wendPlay.camera.scale / {before} - 2) < 0.1")
    assert phone.get("wendPlay.selection.size") == 0        # two fingers select nothing
    phone.page.keyboard.press("0")
    phone.page.evaluate(f"wendPlay.selection.set([{unit}])")
    phone.until("!wendPlay.mayBeCovered")       # the map has moved from under the card, if it had to
    phone.obey(lambda: fingers.press(phone.place_of((12, 4))))
    fingers.lift()
    assert phone.cell(unit) == (12, 4)


@pytest.mark.parametrize(("width", "height"), [(390, 780), (780, 360)])
def test_the_page_fits_a_phone_standing_and_lying(open_page: Any, address: str, width: int, height: int) -> None:
    phone = Sandbox(open_page(address + PLAIN, **{**PHONE, "viewport": {"width": width, "height": height}}))
    phone.begin(**MEADOW)
    assert phone.get("document.documentElement.scrollWidth") <= width
    assert phone.get("document.documentElement.scrollHeight") <= height
    view = phone.get("(({ width, height }) => [width, height])(wendPlay.panes[0].above.getBoundingClientRect())")
    phone.page.click(".pane-head button")
    phone.page.locator("#parameters").wait_for()        # they can be set there, too
    assert view[0] >= width * 0.8
    assert view[1] >= height * 0.45


def test_the_keyboard_alone(meadow: Sandbox) -> None:
    page = meadow.page
    named = "(e) => e.ariaLabel || e.innerText || e.closest('label')"
    controls = "[...document.querySelectorAll('button, input, select')]"
    assert meadow.get(f"{controls}.filter((e) => !({named})(e)).map((e) => e.outerHTML)") == []
    page.keyboard.press("/")
    page.keyboard.type("2\n")
    meadow.until("wendPlay.selection.first === 2 && wendPlay.following")
    meadow.until("!wendPlay.mayBeCovered")      # the map does not move any more from under the card
    page.keyboard.press("0")
    meadow.until("wendPlay.camera.fitted && !wendPlay.following")
    meadow.page.evaluate("wendPlay.panes[0].above.focus()")
    page.keyboard.press("ArrowRight")
    meadow.until("getComputedStyle(wendPlay.panes[0].above).outlineStyle === 'solid'")
    x, y = meadow.until("wendPlay.cursor")
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("m")
    meadow.obey(lambda: page.keyboard.press("Enter"))
    assert meadow.cell(2) == (x, y + 2)
    page.keyboard.press("?")
    page.locator("#help").wait_for()


def test_dark_and_light(meadow: Sandbox) -> None:
    free = next((x, 7) for x in range(24) if (x, 7) not in [meadow.cell(unit) for unit in range(6)])
    colours = []
    for scheme in ("light", "dark"):
        meadow.page.emulate_media(color_scheme=scheme)
        shown = "getComputedStyle(document.documentElement).getPropertyValue('--floor').trim()"
        meadow.until(f"matchMedia('(prefers-color-scheme: {scheme})').matches && wendPlay.colours.cells[0] === {shown}")
        colours.append((sum(meadow.colour_at(free)), meadow.get("getComputedStyle(document.body).backgroundColor")))
    assert colours[0][0] > 600 > 300 > colours[1][0]
    assert colours[0][1] != colours[1][1]


def test_a_lost_connection_is_resumed_and_a_server_that_is_gone_is_told(open_page: Any) -> None:
    with serving(JAM) as address:
        sandbox = Sandbox(open_page(address + PLAIN, forgives="WebSocket connection"))
        sandbox.until("wendPlay.panes[0].units.tick > 3")
        sandbox.page.evaluate("wendPlay.selection.set([5])")
        tick = sandbox.page.evaluate("(globalThis.lost = wendPlay.link.socket).close(), wendPlay.panes[0].units.tick")
        sandbox.until(f"wendPlay.link.socket !== lost && wendPlay.panes[0].units.tick > {tick}")    # they come again
        sandbox.until("wendPlay.link.state === 'open'")
        assert sandbox.get("wendPlay.selection.list") == [5]
        sandbox.page.evaluate("globalThis.before = wendPlay.scene")
    sandbox.until("!document.getElementById('banner').hidden")
    sandbox.until("document.getElementById('banner').textContent.includes('The server is gone')")
    sandbox.until("document.getElementById('link').textContent === 'server gone'")      # and not just trying again
    with serving(JAM, port=int(address.rstrip("/").rpartition(":")[2])):
        sandbox.page.evaluate("document.getElementById('retry').click()")       # unless it has tried by itself by now
        sandbox.until("wendPlay.link.state === 'open' && document.getElementById('banner').hidden")
        sandbox.until("wendPlay.scene !== before && wendPlay.panes[0].units.tick > 1")
        assert set(sandbox.states()) != {HOME}

"""The files that pages are made of: that modules are joined correctly, and that nothing unknown is joined at all."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from wend.errors import FormatError
from wend.viewer.assets import join, static

MODULES = sorted(path.name for path in files("wend.viewer").joinpath("static").iterdir() if path.name.endswith(".js"))


def joined(**modules: str) -> str:
    return join("main", lambda name: modules[name.removesuffix(".js")])


def test_each_module_becomes_a_function_of_what_it_imports() -> None:
    script = joined(main='import { b } from "./two.js";\nexport const a = b + 1;\n', two="export const b = 1;")
    assert script == (
        "const $two = (() => {\nconst b = 1;\nreturn { b };\n})();\n\n"
        "const $main = (() => {\nconst { b } = $two;\nconst a = b + 1;\nreturn { a };\n})();\n"
    )


def test_a_module_that_two_others_import_runs_once_and_before_both() -> None:
    script = joined(
        main='import { a } from "./one.js";\nimport { b } from "./two.js";\na(b);',
        one='import { c } from "./base.js";\nexport function a() {}',
        two='import {\n  c,\n} from "./base.js";\nexport class b {}',
        base="export async function c() {}",
    )
    assert re.findall(r"^const \$(\w+) = \(", script, re.M) == ["base", "one", "two", "main"]


def test_private_names_of_two_modules_do_not_clash(run_script: Callable[[str, Any], Any]) -> None:
    """The modules that are imported use these four names too."""
    harness = """
import { Camera } from "./camera.js";
import { Moment } from "./moment.js";
const clamp = 1, WAIT = 2, camera = 3, moment = 4;
console.log(JSON.stringify([clamp, WAIT, camera, moment, typeof Camera, typeof Moment]));
"""
    assert run_script(harness, None) == [1, 2, 3, 4, "function", "function"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('import all from "./two.js";', "only `import"),
        ('import * as all from "./two.js";', "only `import"),
        ('import { b as c } from "./two.js";', "only `import"),
        ('import { b } from "../two.js";', "only `import"),
        ('import { b } from "two";', "only `import"),
        ("import { b } from './two.js';", "only `import"),
        ('import "./two.js";', "only `import"),
        ('  import { b } from "./two.js";', "only `import"),
        ('const two = await import("./two.js");', "only `import"),
        ("const here = import.meta.url;", "only `import"),
        ('const c = 1; import { b } from "./two.js";', "only `import"),
        ("export default 1;", "only `export`"),
        ("export let a = 1;", "only `export`"),
        ("export const { a } = b;", "only `export`"),
        ("export { a };", "only `export`"),
        ('export * from "./two.js";', "only `export`"),
        ("const c = 1; export const d = 2;", "only `export`"),
        ("export function* a() {}", "only `export`"),
        ('const end = "</script>";', "would end the page's script"),
    ],
)
def test_any_other_form_is_refused_with_its_place(line: str, reason: str) -> None:
    with pytest.raises(FormatError, match=rf"^main\.js, line 4: .*{re.escape(reason)}"):
        joined(main=f'import {{\n  b,\n}} from "./two.js";\n{line}\n', two="export const b = 1;")


def test_a_name_that_is_not_exported_cannot_be_imported() -> None:
    with pytest.raises(FormatError, match=r"main\.js: imports c, d, which two\.js does not export"):
        joined(main='import { b, d, c } from "./two.js";', two="export const b = 1;\nconst c = 2;")


def test_a_circle_of_imports_is_refused() -> None:
    with pytest.raises(FormatError, match="imports itself, by way of main -> two -> main"):
        joined(main='import { b } from "./two.js";', two='import { a } from "./main.js";')


def test_two_imports_from_one_module_are_refused() -> None:
    with pytest.raises(FormatError, match=r"imports from two\.js twice"):
        joined(main='import { b } from "./two.js";\nimport { c } from "./two.js";', two="export const b = 1, c = 2;")


@pytest.mark.parametrize("name", MODULES)
def test_every_module_is_used_and_uses_what_it_imports(name: str) -> None:
    assert f"const ${name.removesuffix('.js')} = " in join("replay") + join("play")
    text = static(name)
    for names in re.findall(r"^import \{([^}]*)\}", text, re.M):
        for imported in re.findall(r"\w+", names):
            assert len(re.findall(rf"\b{imported}\b", text)) > 1, imported


@pytest.mark.parametrize("name", [*MODULES, "replay joined", "play joined"])
def test_node_can_parse_it(name: str, node: str, tmp_path: Path) -> None:
    path = tmp_path / "module.mjs"
    path.write_text(static(name) if name in MODULES else join(name.split()[0]), encoding="utf-8")
    subprocess.run([node, "--check", path], check=True, timeout=60)


def test_a_script_needs_neither_eval_nor_a_network() -> None:
    assert not re.search(r"\beval\b|new Function|fetch\(|https?:|XMLHttpRequest|WebSocket", join("replay"))


# --- modules that need no page --------------------------------------------------------------------------------------

CAMERA_HARNESS = """
import { Camera } from "./camera.js";
const camera = new Camera(100, 50, { x0: 0, y0: 0, x1: 100, y1: 50 });
camera.resize(1024, 524, 2);
const seen = [[camera.scale, camera.showsAll, ...camera.toMap(512, 262)]];
const under = camera.toMap(700, 100);
camera.zoomAt(700, 100, 3);
seen.push([camera.scale, camera.showsAll, camera.stageX(under[0]) - 700, camera.stageY(under[1]) - 100]);
const before = camera.toMap(0, 0);
camera.panBy(30, -60);
const after = camera.toMap(0, 0);
seen.push([before[0] - after[0], before[1] - after[1]]);
camera.zoomAt(0, 0, 1e9);
seen.push([camera.scale]);
camera.fit();
camera.resize(524, 524, 1);
seen.push([camera.scale, ...camera.toMap(262, 262)], Object.values(camera.shown));
console.log(JSON.stringify(seen));
"""


def test_the_camera_fits_zooms_around_a_pixel_and_pans(run_script: Callable[[str, Any], Any]) -> None:
    fitted, zoomed, panned, closest, narrow, shown = run_script(CAMERA_HARNESS, None)
    assert fitted == [10, True, 50, 25]
    assert zoomed[:2] == [30, False]
    assert zoomed[2:] == pytest.approx([0, 0], abs=0.5)         # edges stay on device pixels
    assert panned == pytest.approx([1, -2], abs=1 / 30)
    assert closest == [96]
    assert narrow == [5, 50, 25]
    assert shown == [0, 0, 100, 50]

"""What `make docs` would complain about, without building the site; and that the docs say what the code says."""

from __future__ import annotations

import importlib.util
import json
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import yaml

import wend

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
NAV = (ROOT / "mkdocs.yml").read_text().partition("\nnav:")[2]


def text_of(page: Path) -> str:
    """A page without its code blocks, in which nothing is a heading or a link."""
    return re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as GitHub and the site make them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.*?) *$", text_of(page), flags=re.MULTILINE):
        plain = re.sub(r"\\(.)", r"\1", re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading.replace("`", "")))
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        repeated = (f"{name}_{k}" for k in range(1, 100))       # never linked to: it differs between the two
        found.add(name if name not in found else next(each for each in repeated if each not in found))
    return found


def test_anchors_are_those_of_the_headings(tmp_path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A\\*, `code` & more\n\n```sh\n# no heading\n```\n\n## Two-way: [links](x.md)\n\n## Über_alles\n")
    assert anchors(page) == {"a-code--more", "two-way-links", "über_alles"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_and_their_anchors_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = page.parent / path if path else page
        assert there.exists(), target
        if DOCS in page.parents:        # the site has nothing else, and no folders
            assert there.is_file(), target
            assert DOCS in there.resolve().parents, target
        if anchor:
            assert anchor in anchors(there), target


def test_every_page_is_in_the_navigation() -> None:
    listed = re.findall(r"[\w/-]+\.md\b", NAV)
    folders = re.findall(r": ([\w-]+/)$", NAV, flags=re.MULTILINE)
    pages = [page.relative_to(DOCS).as_posix() for page in sorted(DOCS.rglob("*.md"))]
    assert [page for page in pages if page not in listed and not page.startswith(tuple(folders))] == []
    assert [page for page in listed if page not in pages] == []
    assert [folder for folder in folders if not (DOCS / folder).is_dir()] == []


def test_the_reference_names_what_there_is() -> None:
    for page in sorted((DOCS / "api").glob("*.md")):
        for name in re.findall(r"^::: ([\w.]+)$", page.read_text(), flags=re.MULTILINE):
            module, found = name, None
            while found is None:
                try:
                    found = importlib.import_module(module)
                except ModuleNotFoundError:
                    module = module.rpartition(".")[0]
            for part in name.removeprefix(module).split(".")[1:]:
                found = getattr(found, part)
            assert found.__doc__, name


def test_the_reference_holds_every_public_name() -> None:
    said = " ".join(page.read_text() for page in (DOCS / "api").glob("*.md"))
    tables = {"ALGORITHMS"}             # a table of data: `wend algorithms`, and the README
    modules = {"errors": "wend.errors", "mapgen": "wend.maps.generators", "metrics": "wend.metrics"}
    modules["WendError"] = modules["errors"]        # whose page holds all of them
    for name in set(wend.__all__) - tables:
        home = modules.get(name) or f"{getattr(wend, name).__module__}.{name}"
        assert re.search(rf"^::: {re.escape(home)}$", said, flags=re.MULTILINE), name


# --- tables ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    found = importlib.util.spec_from_file_location("tables", DOCS / "tables.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_tables_are_those_of_the_code(tables) -> None:
    for path, table in tables.TABLES.items():
        page = path.read_text()
        assert page.count(tables.BEGIN) == page.count(tables.END) == 1
        assert page == tables.with_table(page, table()), "run python docs/tables.py"


def test_the_tables_hold_every_metric_and_every_event(tables) -> None:
    from wend.world.trace import EVENTS

    assert all(f"| `{name}` |" in tables.metrics_table() for name in wend.metrics.MEASURES)
    source = "".join(path.read_text() for path in (Path(wend.__file__).parent / "world").glob("*.py"))
    noted = set(re.findall(r'_note\("(\w+)"', source)) | {"blocked", "unblocked"}
    assert noted == set(EVENTS)
    assert all(f"| `{kind}` |" in tables.events_table() for kind in noted)


# --- citing ----------------------------------------------------------------------------------------------------------


def test_all_ways_to_cite_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    zenodo = json.loads((ROOT / ".zenodo.json").read_text())
    assert citation["version"] == project["version"] == wend.__version__
    assert citation["license"] == zenodo["license"] == project["license"]
    assert citation["title"] == zenodo["title"]
    assert citation["abstract"] == zenodo["description"]
    assert citation["keywords"] == zenodo["keywords"]
    assert [author["name"] for author in citation["authors"]] == [creator["name"] for creator in zenodo["creators"]]
    entries = [re.search(r"```bibtex\n(.*?)```", page.read_text(), flags=re.DOTALL).group(1)
               for page in (ROOT / "README.md", DOCS / "index.md")]  # fmt: skip
    assert entries[0] == entries[1]
    fields = dict(re.findall(r"(\w+) += \{+(.*?)\}+,?$", entries[0], flags=re.MULTILINE))
    assert (fields["title"], fields["version"]) == (citation["title"], citation["version"])
    assert (fields["author"], fields["license"]) == (citation["authors"][0]["name"], citation["license"])


def test_the_citation_has_what_its_format_asks_for() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    for reference in citation["references"]:
        assert {"type", "title", "authors"} <= set(reference)
        assert all(set(author) == {"family-names", "given-names"} for author in reference["authors"])

"""A real browser for the pages: Chromium, driven by Playwright. Where either is missing, these tests are skipped."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

LONGEST_MS = 300_000    # that a page may take for anything, on a busy machine
SOFTWARE_GL = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")        # WebGL without a graphics card


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, one for all tests of a session; WEND_CHROMIUM names another one than the system's."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright to drive a browser")
    program = os.environ.get("WEND_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("needs Chromium to look at the pages")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=program, args=["--no-sandbox", *SOFTWARE_GL], timeout=LONGEST_MS
        )
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Any]:
    """A function that opens an address in a context of its own; what the scripts complain of fails the test, unless it
    contains what the test `forgives`."""
    contexts: list[Any] = []
    complaints: list[str] = []

    def open_address(address: str, forgives: str | None = None, **context: Any) -> Any:
        def complain(words: str) -> None:
            if forgives is None or forgives not in words:
                complaints.append(words)

        contexts.append(browser.new_context(**{"viewport": {"width": 1100, "height": 750}, **context}))
        page = contexts[-1].new_page()
        page.set_default_timeout(LONGEST_MS)
        page.on("pageerror", lambda error: complain(str(error)))
        page.on("console", lambda message: message.type == "error" and complain(message.text))
        page.goto(address)
        return page

    yield open_address
    for context in contexts:
        context.close()
    assert complaints == []

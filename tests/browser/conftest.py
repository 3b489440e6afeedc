"""A real browser for the pages: Chromium, driven by Playwright. Where either is missing, these tests are skipped."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

LONGEST_MS = 10_000     # that a page may take for anything


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, one for all tests of a session; WEND_CHROMIUM names another one than the system's."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright to drive a browser")
    program = os.environ.get("WEND_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("needs Chromium to look at the pages")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Any]:
    """A function that opens an address in a context of its own; what the scripts complain of fails the test."""
    contexts: list[Any] = []
    complaints: list[str] = []

    def open_address(address: str, **context: Any) -> Any:
        contexts.append(browser.new_context(**{"viewport": {"width": 1100, "height": 750}, **context}))
        page = contexts[-1].new_page()
        page.set_default_timeout(LONGEST_MS)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
        page.goto(address)
        return page

    yield open_address
    for context in contexts:
        context.close()
    assert complaints == []

"""Pages of the program, made once for all tests, and the browser that looks at them."""
from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import jobs
import pytest

ROOT = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
#: Nothing of this machine's user, and nothing of the network.
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)


def chromium() -> str:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("Chromium is not installed")
    return found


@pytest.fixture(scope="session")
def browser():
    path = chromium()
    sync_api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(QUIET))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """Makes the page of a job, once."""
    folder = tmp_path_factory.mktemp("pages")
    jobs.write_inputs(folder)
    done: dict[str, Path] = {}
    program = Path(os.environ.get("LOPSIDED_BIN", ROOT / "target" / "debug" / "lopsided")).resolve()

    def make(name: str) -> Path:
        if name not in done:
            job = jobs.ALL[name]
            for needed in job.after:
                make(needed)
            page = folder / f"{name}.html"
            words = [word.format(data=os.environ.get("LOPSIDED_DATA", "")) for word in job.words]
            ran = subprocess.run(
                [program, *words, "--report", page.name, "--quiet"], cwd=folder, capture_output=True, text=True, check=False
            )
            assert ran.returncode in (0, 1), ran.stderr
            done[name] = page
        return done[name]

    return make


@pytest.fixture
def opened(browser, made):
    """Opens the page of a job; whatever it complains about fails the test."""
    contexts, complaints = [], []

    def open_page(name: str, width: int = 1280, scheme: str = "light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append("a dialog: " + dialog.message), dialog.dismiss()))
        page.goto(made(name).as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []

"""Chromium for tests: a server on this machine, a page on it, and problems that the page runs for Python to judge."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import playwright.sync_api
from playwright.sync_api import Page

from wgslgen.errors import ToolMissing
from wgslgen.judging import Subject, subject_name
from wgslgen.oracles.problem import Problem
from wgslgen.spec import Case

WEB = Path(__file__).parent / "web"
FLAGS = (
    "--no-sandbox",
    "--enable-unsafe-webgpu",
    "--use-webgpu-adapter=swiftshader",
    "--enable-features=Vulkan",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
PLACES = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
TYPES = {".html": "text/html", ".js": "text/javascript", ".json": "application/json", ".css": "text/css"}


class Browser:
    """A page whose modules come from `folders` by the first part of their path, and whose data from `data`."""

    def __init__(self, page: Page, origin: str, data: dict[str, bytes]) -> None:
        self.page, self.origin, self.data = page, origin, data

    def run(self, bundle: str, problems: Sequence[tuple[Subject, Case, Problem]]) -> list[dict[str, bytes] | str]:
        """Run problems through a bundle's runtime: outputs by buffer, or what the page says went wrong."""
        asked = [self._put(index, *each) for index, each in enumerate(problems)]
        wrong = self.page.evaluate(
            "([url, problems]) => runAll(url, problems)", [f"/generated/{bundle}/index.js", asked]
        )
        return [wrong.get(str(index)) or self._results(index) for index in range(len(problems))]

    def admitted(self, bundle: str) -> set[str]:
        """Return the variants and plans of a bundle that the page's adapter may run."""
        return {*self.page.evaluate("(url) => admitted(url)", f"/generated/{bundle}/index.js")}

    def self_tested(self, bundle: str, names: Sequence[str]) -> dict[str, Any]:
        """Return what the runtime's self-test says of these variants of a bundle."""
        asked = [f"/generated/{bundle}/index.js", [*names]]
        found: dict[str, Any] = self.page.evaluate("([url, names]) => selfTested(url, names)", asked)
        return found

    def _put(self, index: int, subject: Subject, case: Case, problem: Problem) -> dict[str, Any]:
        url = f"/data/{index}"
        for path in [path for path in self.data if path.startswith(f"{url}/")]:
            del self.data[path]
        self.data |= {f"{url}/{name}": np.ascontiguousarray(array).tobytes() for name, array in problem.inputs.items()}
        return {
            "url": url,
            "plan": subject_name(subject),
            "sizes": dict(case.sizes),
            "parameters": dict(problem.parameters),
            "inputs": [*problem.inputs],
        }

    def _results(self, index: int) -> dict[str, bytes]:
        start = f"/data/{index}/"
        return {path.removeprefix(start): raw for path, raw in self.data.items() if path.startswith(start)}


def handler(folders: Mapping[str, Path], data: dict[str, bytes]) -> type[BaseHTTPRequestHandler]:
    """Return what answers the page: files of the folders, data, and results, which replace data of the same path."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            found = data.get(self.path)
            if found is None:
                first, _, rest = self.path.lstrip("/").partition("/")
                file = folders[first] / rest if first in folders else WEB / first
                found = file.read_bytes() if file.is_file() else None
            self._answer(200 if found is not None else 404, found or b"")

        def do_POST(self) -> None:
            data[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
            self._answer(200, b"")

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", TYPES.get(Path(self.path).suffix, "application/octet-stream"))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing: the tests do."""

    return Handler


@contextmanager
def served(folders: Mapping[str, Path], data: dict[str, bytes]) -> Iterator[str]:
    """Serve each folder under its name, and the data; give the origin."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(folders, data))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def launched(*flags: str) -> Iterator[playwright.sync_api.Browser]:
    """Give headless Chromium with SwiftShader as its GPU."""
    executable = next((place for place in PLACES if Path(place).is_file()), None)
    if executable is None:
        raise ToolMissing("Chromium is missing", hint="make setup")
    with playwright.sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=[*FLAGS, *flags])
        yield browser
        browser.close()


@contextmanager
def chromium(folders: Mapping[str, Path]) -> Iterator[Browser]:
    """Give a page in headless Chromium whose scripts find each folder under its name."""
    data: dict[str, bytes] = {}
    with served(folders, data) as origin, launched() as browser:
        page = browser.new_page()
        page.goto(f"{origin}/page.html")
        page.wait_for_function("globalThis.ready")
        yield Browser(page, origin, data)

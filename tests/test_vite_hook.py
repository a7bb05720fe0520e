"""The manual's plugin for Vite, as it stands there, in a real dev server and a real build."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import closing
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path

import pytest
from cli_runs import TINY, run
from talking import Talking, until

ROOT = Path(__file__).parent.parent
VITE = ROOT / "tests" / "web" / "node_modules" / "vite" / "bin" / "vite.js"
TEXTS = "kernels/kernels/quantize_q8.js"


def documented() -> str:
    """Return vite.config.js as the manual shows it."""
    found = re.findall(r"```js\n(// vite\.config\.js\n.*?)```", (ROOT / "docs" / "manual.md").read_text(), re.DOTALL)
    assert len(found) == 1
    return str(found[0])


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """Return the folder of a page that loads a bundle of two variants."""
    page = tmp_path / "page"
    page.mkdir()
    (page / "package.json").write_text(json.dumps({"type": "module", "private": True}))
    (page / "vite.config.js").write_text(documented())
    (page / "index.html").write_text('<script type="module" src="/page.js"></script>')
    (page / "page.js").write_text('import { kit } from "./kernels/index.js";\nconsole.log(kit);\n')
    (page / "kernels.toml").write_text(TINY)
    assert run("render", page / "kernels.toml").exit_code == 0
    return page


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """Return a folder for PATH with node and nothing else."""
    node = shutil.which("node")
    assert node is not None
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "node").symlink_to(node)
    return tmp_path / "bin"


@pytest.fixture
def path(tools: Path) -> str:
    """Return a PATH with node and the command of this checkout."""
    command = tools / "wgslgen"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m wgslgen "$@"\n')
    command.chmod(0o755)
    return str(tools)


def serve(page: Path, path: str) -> Talking:
    return Talking("node", str(VITE), "--host", "127.0.0.1", at=page, PATH=path, NO_COLOR="1")


def build(page: Path, path: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": path, "NO_COLOR": "1"}
    command = ["node", str(VITE), "build"]
    return subprocess.run(command, cwd=page, env=environment, capture_output=True, text=True, check=False)


def fetched(vite: Talking, path: str) -> str:
    """Return what the dev server sends for a path, or nothing where it has none."""
    port = re.search(r"http://127\.0\.0\.1:(\d+)/", vite.said)
    assert port is not None, vite.said
    with closing(HTTPConnection("127.0.0.1", int(port[1]), timeout=60.0)) as server:
        server.request("GET", f"/{path}")
        answer = server.getresponse()
        return answer.read().decode() if answer.status == HTTPStatus.OK else ""


def test_a_page_that_is_served_follows_the_bundle_file(page: Path, path: str) -> None:
    """From the start, when the folder is stale, to the end, when the watch ends with the server."""
    (page / "kernels.toml").write_text(TINY.replace("1", "8"))
    with serve(page, path) as vite:
        vite.says("http://127.0.0.1:")
        vite.says("kernels: 2 variants, rendered: ")
        vite.says("watching; ")
        for module in ("page.js", "kernels/index.js"):
            assert fetched(vite, module)
        until(lambda: "_s8" in fetched(vite, TEXTS), "the texts of the start")
        (page / "kernels.toml").write_text(TINY)
        vite.says("page reload kernels/")
        until(lambda: "_s1" in fetched(vite, TEXTS), "the new texts")
        assert "_s8" not in fetched(vite, TEXTS)
        (page / "kernels.toml").write_text(TINY.replace("4", "3"))
        vite.says("stride = 3; expected 1, 4 or 8")
        assert "_s1" in fetched(vite, TEXTS)
        vite.ends(signal.SIGTERM)


def test_a_stale_folder_is_not_built(page: Path, path: str) -> None:
    (page / "kernels.toml").write_text(TINY.replace("4", "8"))
    done = build(page, path)
    assert done.returncode == 1
    assert "[plugin wgslgen]" in done.stderr
    assert "kernels: 2 variants, differs" in done.stderr
    assert "1 of 1 bundles differ from what would be rendered\nhint: wgslgen render kernels.toml\n" in done.stderr
    assert not (page / "dist").exists()
    assert run("render", page / "kernels.toml").exit_code == 0
    built = build(page, path)
    assert built.returncode == 0, built.stderr
    (script,) = (page / "dist" / "assets").glob("*.js")
    assert "_s8" in script.read_text()


def test_without_the_command_a_build_fails_and_a_server_says_so(page: Path, tools: Path) -> None:
    done = build(page, str(tools))
    assert done.returncode == 1
    assert "spawnSync wgslgen ENOENT" in done.stderr
    with serve(page, str(tools)) as vite:
        vite.says("spawn wgslgen ENOENT")
        vite.says("http://127.0.0.1:")
        assert "_s4" in fetched(vite, TEXTS)

"""The templates are found in a checkout, in an editable install and in a wheel alike."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import wgslgen
from wgslgen.errors import ToolMissing
from wgslgen.paths import templates_dir

CHECKOUT = Path(__file__).parent.parent
TEMPLATES = CHECKOUT / "templates"


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


def run_python(*arguments: str, cwd: Path, pythonpath: Path | None = None) -> str:
    """Run this interpreter, away from the checkout, and return its standard output."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if pythonpath is not None:
        environment["PYTHONPATH"] = str(pythonpath)
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{arguments} failed:\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a source distribution, and from that the wheel; nothing is fetched."""
    folder = tmp_path_factory.mktemp("dist")
    run_python("-m", "build", "--no-isolation", "--outdir", str(folder), str(CHECKOUT), cwd=folder)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def elsewhere(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into a folder that is no checkout and return the folder."""
    folder = tmp_path_factory.mktemp("elsewhere")
    options = ("--quiet", "--no-deps", "--no-index", "--disable-pip-version-check")
    run_python("-m", "pip", "install", *options, "--target", str(folder), str(wheel), cwd=folder)
    return folder


def test_checkout_has_its_templates() -> None:
    assert templates_dir() == TEMPLATES


def test_editable_install_reads_the_checkout(tmp_path: Path) -> None:
    build = "import sys; from hatchling.build import build_editable; build_editable(sys.argv[1])"
    run_python("-c", build, str(tmp_path), cwd=CHECKOUT)
    (path,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "site")
    assert not list((tmp_path / "site").rglob("*.j2")), "stale copies beside an editable install"
    # Without the interpreter's own site, so that only this install's .pth file leads to the package; the
    # dependencies come by a plain path, which reads no .pth files.
    ask = """if True:
        import site, sys
        site.addsitedir(sys.argv[1])
        sys.path.append(sys.argv[2])
        from wgslgen.paths import templates_dir
        print(templates_dir())"""
    dependencies = Path(pytest.__file__).parent.parent
    found = run_python("-S", "-c", ask, str(tmp_path / "site"), str(dependencies), cwd=tmp_path)
    assert Path(found.strip()) == TEMPLATES


def test_wheel_holds_every_template_and_no_more(wheel: Path, elsewhere: Path) -> None:
    found = run_python(
        "-c",
        "from wgslgen.paths import *; print(templates_dir())",
        cwd=elsewhere.parent,
        pythonpath=elsewhere,
    )
    assert Path(found.strip()) == elsewhere / "wgslgen" / "templates"
    assert files_below(elsewhere / "wgslgen" / "templates") == files_below(TEMPLATES)
    assert wheel.name == f"wgslgen-{wgslgen.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        top = {name.split("/")[0] for name in archive.namelist()}
        names = archive.namelist()
    assert top == {"wgslgen", f"wgslgen-{wgslgen.__version__}.dist-info"}
    assert {"wgslgen/py.typed", f"wgslgen-{wgslgen.__version__}.dist-info/licenses/LICENSE"} <= set(names)


def test_wheel_installed_elsewhere_renders_what_the_checkout_renders(elsewhere: Path, tmp_path: Path) -> None:
    bundle = min((CHECKOUT / "generated").glob("*.toml"), key=lambda path: path.stat().st_size)
    for name, pythonpath in (("wheel", elsewhere), ("checkout", CHECKOUT)):
        run_python(
            *("-m", "wgslgen", "render", str(bundle), "--out", str(tmp_path / name)),
            cwd=tmp_path,
            pythonpath=pythonpath,
        )
    rendered = files_below(tmp_path / "wheel")
    assert any(name.endswith(".wgsl") for name in rendered)
    assert rendered == files_below(tmp_path / "checkout")


def test_an_incomplete_installation_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolMissing, match=r"no templates in .* installation of wgslgen is incomplete"):
        templates_dir(tmp_path / "wgslgen")


def test_version_stands_once_in_the_metadata() -> None:
    metadata = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert metadata["version"] == wgslgen.__version__

"""A bundle as a package: what TypeScript, a bundler and two linters of packages say of it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WEB = ROOT / "tests" / "web"
TOOLS = WEB / "node_modules"
NAME = "bonsai-1.7b-q2_0"
OPTIONS = {
    "strict": True,
    "noUncheckedIndexedAccess": True,
    "exactOptionalPropertyTypes": True,
    "noPropertyAccessFromIndexSignature": True,
    "target": "es2022",
    "lib": ["es2022", "dom"],
    "types": ["@webgpu/types"],
    "noEmit": True,
}


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """Return the folder of a page that has a shipped bundle among its packages."""
    packages = tmp_path / "node_modules"
    packages.mkdir()
    (packages / NAME).symlink_to(ROOT / "generated" / NAME)
    (packages / "@webgpu").symlink_to(TOOLS / "@webgpu")
    return tmp_path


def tool(name: str, *arguments: object, at: Path) -> subprocess.CompletedProcess[str]:
    """Run one of the tools of tests/web/package.json in the folder `at`."""
    path = TOOLS / ".bin" / name
    assert path.exists(), f"{path} is missing; run `make setup`"
    command = [str(path), *map(str, arguments)]
    return subprocess.run(command, cwd=at, capture_output=True, text=True, check=False)


def compiled(page: Path, text: str, module: str, resolution: str) -> str:
    """Return what tsc says of a page's script."""
    (page / "consumer.ts").write_text(text)
    options = {**OPTIONS, "module": module, "moduleResolution": resolution, "preserveSymlinks": True}
    (page / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "files": ["consumer.ts"]}))
    done = tool("tsc", "-p", ".", at=page)
    return "" if done.returncode == 0 else done.stdout


@pytest.mark.parametrize(("module", "resolution"), [("nodenext", "nodenext"), ("esnext", "bundler")])
def test_a_page_in_strict_typescript_compiles(page: Path, module: str, resolution: str) -> None:
    assert compiled(page, (WEB / "consumer.ts").read_text(), module, resolution) == ""


def test_names_that_the_bundle_has_not_do_not_compile(page: Path) -> None:
    text = (WEB / "consumer.ts").read_text()
    assert text.count("// @ts-expect-error") == 4
    said = compiled(page, text.replace("// @ts-expect-error", "// as it is:"), "esnext", "bundler")
    assert said.count("consumer.ts(") == 4


def bundled(page: Path, script: str) -> str:
    (page / "app.js").write_text(script)
    done = tool("esbuild", "app.js", "--bundle", "--format=esm", "--outfile=out.js", at=page)
    assert done.returncode == 0, done.stderr
    return (page / "out.js").read_text()


@pytest.mark.parametrize("path", [NAME, f"{NAME}/kernels/argmax_merge"])
def test_a_bundler_keeps_the_kernels_that_are_imported_alone(page: Path, path: str) -> None:
    script = f'import {{ createPlan, kitOf }} from "{NAME}"; import {{ argmax_merge }} from "{path}";'
    out = bundled(page, f"{script} globalThis.page = [createPlan, kitOf([argmax_merge])];")
    kernels = {path.stem for path in (ROOT / "generated" / NAME / "kernels").glob("*.js")}
    assert {kernel for kernel in kernels if f'kernel: "{kernel}"' in out} == {"argmax_merge"}
    texts = [*(ROOT / "generated" / NAME / "wgsl" / "argmax_merge").iterdir()]
    assert out.count("fn main(") == len(texts)
    own = (ROOT / "generated" / NAME / "kernels" / "argmax_merge.js").stat().st_size
    runtime = sum(path.stat().st_size for path in (ROOT / "generated" / NAME / "runtime").glob("*.js"))
    assert own < len(out) < own + runtime + 2000


def test_publint_finds_nothing(page: Path) -> None:
    done = tool("publint", "--strict", "--pack", "false", ROOT / "generated" / NAME, at=page)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "All good" in done.stdout


def test_types_are_found_however_an_es_module_resolves_them(page: Path) -> None:
    packed = subprocess.run(
        ["npm", "pack", "--silent", f"./node_modules/{NAME}/"], cwd=page, capture_output=True, text=True, check=False
    )
    assert packed.returncode == 0, packed.stderr
    done = tool("attw", packed.stdout.strip(), "--profile", "esm-only", "--format", "json", at=page)
    assert done.returncode == 0, done.stdout[:2000] + done.stderr
    kinds = {problem["resolutionKind"] for problem in json.loads(done.stdout)["analysis"]["problems"]}
    assert kinds <= {"node10", "node16-cjs"}  # this package has nothing for require()

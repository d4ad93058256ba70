# Everything happens in .venv; uv is used where it is there, and pip where it is not.
#
#   make demo    the main job, on a page that ships with the project
#   make test    the tests that take no minutes      make check   ruff, mypy and deptry
#   make bench   what a call costs                   make dist    wheels and sdists in dist/
#   make docs    the documentation site in site/     make release VERSION=0.2.0    a commit and a tag
#   make architecture    the graphs of docs/explanation/architecture.md, from the imports
#
#   make full    all rows of the tables of which the tests have every pair, or one of each kind
#
# TIER chooses the tests: unit, process, slow, installed or all. TESTS names files, folders or single tests, of any tier:
#   make test TIER=unit    make test TESTS=host/tests/text/test_names.py
# Of each table of tests that are no unit tests, a tier makes the first row and one in eight of the others: other ones
# for each commit. All rows: FERRULE_TEST_ROWS= make test

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
PLUGINS := $(wildcard plugins/*)
HEAVY := plugins/duckdb plugins/mcp plugins/scholar# pyarrow, the SDK of MCP, and typst: more than all the rest together; tests want them
for_use := --editable "host[http,redis,schema]" $(addprefix --editable ,$(filter-out $(HEAVY),$(PLUGINS)))
for_work := --editable "host[http,redis,schema]" $(addprefix --editable ,$(PLUGINS)) --editable tests/testkit --requirement requirements-dev.txt
FOR_USE := host/pyproject.toml $(addsuffix /pyproject.toml,$(filter-out $(HEAVY),$(PLUGINS)))
PROJECTS := host/pyproject.toml $(addsuffix /pyproject.toml,$(PLUGINS)) tests/testkit/pyproject.toml

ifneq ($(TIER),)
  CHOSEN = -m "not full$(if $(filter all,$(TIER)),, and $(TIER))$(if $(filter unit process,$(TIER)), and not slow)"
else
  CHOSEN = -m "not full$(if $(TESTS),, and not slow and not installed)"
endif

ifeq ($(TESTS),)
  test: export FERRULE_TEST_ROWS ?= 8:$(or $(shell git rev-parse HEAD 2>/dev/null),$(shell date +%F))
endif

export PIP_DISABLE_PIP_VERSION_CHECK = 1
unexport PYTHONDONTWRITEBYTECODE# with it, every process of the tests compiles all that it imports

ifeq ($(UV),)
  create = $(PYTHON) -m venv $(VENV)
  install = $(BIN)/python -m pip install --quiet --constraint constraints.txt
else
  create = $(UV) venv --quiet --seed --allow-existing --python $(PYTHON) $(VENV)
  install = $(UV) pip install --quiet --compile-bytecode --python $(BIN)/python --constraint constraints.txt
endif

# The site is made in an environment of its own, with the scripts that draw its diagrams.
DOCS := $(VENV)/docs
SITE ?= site
MERMAID := 12.3.0

.PHONY: demo test full again check format bench dist docs architecture release addresses clean

demo: $(VENV)/.for-use
	@$(BIN)/python demo/demo.py

test: $(VENV)/.for-work
	$(BIN)/python -m pytest -n auto --dist loadgroup $(CHOSEN) $(TESTS)

full: $(VENV)/.for-work
	$(BIN)/python -m pytest -n auto --dist loadgroup -m full $(TESTS)

again: $(VENV)/.for-work
	$(BIN)/python -m pytest --verbose --exitfirst --last-failed --last-failed-no-failures none

check: $(VENV)/.for-work
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy host/src plugins/*/src tests/testkit/src bench demo scripts/*.py
	for project in host $(PLUGINS); do (cd $$project && $(abspath $(BIN))/deptry --no-ansi src) || exit 1; done

format: $(VENV)/.for-work
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

bench: $(VENV)/.for-work
	$(BIN)/python bench/startup.py
	$(BIN)/python bench/search.py
	$(BIN)/python bench/caching.py
	$(BIN)/python bench/research.py
	$(BIN)/python bench/conversion.py
	$(BIN)/python bench/notebooks.py
	$(BIN)/python bench/asking.py
	$(BIN)/python bench/serve.py

# The launcher has a wheel for each of these, which zig compiles on any machine.
LAUNCHER := plugins/launcher
LAUNCHER_TARGETS := x86_64-linux-musl aarch64-linux-musl x86_64-macos.11.0 aarch64-macos.11.0

dist: $(VENV)/.for-work
	rm -rf dist
	for project in host $(filter-out $(LAUNCHER),$(PLUGINS)); do $(BIN)/python -m build --outdir dist $$project || exit 1; done
	$(BIN)/python -m build --sdist --outdir dist $(LAUNCHER)
	for target in $(LAUNCHER_TARGETS); do FERRULE_LAUNCHER_TARGET=$$target $(BIN)/python -m build --wheel --outdir dist $(LAUNCHER) || exit 1; done
	$(BIN)/python -m twine check --strict dist/*

docs: $(DOCS)/.with-mermaid-$(MERMAID)
	rm -rf $(SITE)
	FERRULE_SITE_MERMAID=$(abspath $(DOCS))/mermaid $(DOCS)/bin/python -m sphinx --quiet --fail-on-warning --keep-going \
	  -c website -d $(SITE)/.doctrees . $(SITE)
	@rm -rf $(SITE)/.doctrees
	@echo "$(SITE)/index.html is the documentation."

architecture:
	@$(PYTHON) scripts/draw_architecture.py

release: $(VENV)/.for-work
	@$(BIN)/python scripts/release.py $(if $(VERSION),"$(VERSION)",--help)

addresses:
	@$(PYTHON) scripts/write_addresses.py $(REPOSITORY) $(DOCUMENTATION)

clean:
	rm -rf $(VENV) dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis

# What has changed is installed again; all of it where the environment is new, or the pinned versions are others.
changed = $(addprefix --editable ,$(patsubst %/pyproject.toml,%,$(filter %/pyproject.toml,$?)))
is_new = $(or $(filter constraints.txt requirements-dev.txt host/%,$?),$(if $(wildcard $@),,new))

$(VENV)/.for-use: $(FOR_USE) constraints.txt
	@echo "Preparing $(VENV) …"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ferrule needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3")'
	@$(if $(is_new),$(create))
	@$(install) $(if $(is_new),$(for_use),$(changed))
	@touch $@

$(VENV)/.for-work: $(PROJECTS) requirements-dev.txt constraints.txt | $(VENV)/.for-use
	@echo "Preparing $(VENV) for the tests …"
	@$(install) $(if $(is_new),$(for_work),$(changed))
	@touch $@

$(DOCS)/.with-mermaid-$(MERMAID): requirements-docs.txt constraints.txt
	@echo "Preparing $(DOCS) …"
	@command -v npm >/dev/null || { echo "The diagrams of the site need npm. scripts/install-node-programs installs it."; exit 1; }
	@rm -rf $(DOCS) && $(PYTHON) -m venv $(DOCS)
	@$(DOCS)/bin/python -m pip install --quiet --constraint constraints.txt --requirement requirements-docs.txt
	@cd $(DOCS) && npm pack --silent mermaid@$(MERMAID) >/dev/null
	@cd $(DOCS) && tar -xzf mermaid-$(MERMAID).tgz --exclude='*.map' package/dist/mermaid.esm.min.mjs package/dist/chunks/mermaid.esm.min
	@cd $(DOCS) && mv package/dist mermaid && rm -r package mermaid-$(MERMAID).tgz
	@touch $@

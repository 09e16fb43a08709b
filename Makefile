# On a fresh machine with git, make and Python 3.11 or newer: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
KERNEL_TESTS := tests/learn tests/native tests/text
# A file of tests stays with one process: what its tests share is made once.
PYTEST := $(BIN)/python -m pytest --quiet --numprocesses auto --dist loadfile

# The folder with real data, for the tests that want some; they skip where it is absent.
STEELYARD_DATA ?= ../shared/data
export STEELYARD_DATA

# Bytecode is kept, whatever the environment says: many tests start processes, which would compile every module anew.
export PYTHONDONTWRITEBYTECODE :=

# pip is silent unless it fails.
define install
	@echo "installing steelyard[$(1)] into $(VENV)"
	@$(BIN)/python -m pip install --disable-pip-version-check $(2) --editable ".[$(1)]" > $(VENV)/install.log 2>&1 \
		|| { cat $(VENV)/install.log >&2; echo "pip failed, see above" >&2; exit 1; }
endef

.PHONY: help demo test kernels collect test-plain test-bounds test-browser test-node test-bindings test-cluster test-versions test-installed \
	audit fuzz soak check format docs site \
	bench bench-cluster paper paper-quick clean

help:
	@echo "make demo     learn who survived the Titanic, with weights, and write pages about it"
	@echo "make test     every check and every test"
	@echo "make kernels  compile all kernels that changed; they are compiled when first used, too"
	@echo "make test-bounds  the kernels with bounds checked, for changes in them"
	@echo "make test-node  the scorer in JavaScript beside ours, in node"
	@echo "make test-bindings  scorers within datatrove, Ray Data and Dask, where installed"
	@echo "make test-browser  the page to label in, in a real Chromium"
	@echo "make test-versions  part of the tests with the oldest and newest dependencies, on each Python that is found"
	@echo "make test-installed  the built wheel without extras: as another user, without HOME, two compiling at once"
	@echo "make audit    known vulnerabilities of what steelyard depends on; needs the network"
	@echo "make test-cluster  training on real clusters of Ray and Dask, whose workers are killed on the way"
	@echo "make fuzz     damaged files and requests for everything that reads, some minutes; LONG=1 for hours"
	@echo "make soak     commands and servers that are killed, full disks, memory over long runs, every pair of options"
	@echo "make bench-cluster  what parts and rounds cost in accuracy, and what clusters gain in time"
	@echo "make check    the linters only"
	@echo "make docs     write the references of the command line and of Python anew"
	@echo "make site     the documentation as a site"
	@echo "make bench    speed, start-up and memory beside the peers, some minutes"
	@echo "make paper    the experiments of the paper, every table and figure, with a report"
	@echo "make paper-quick  the same in a few minutes, with less data behind each claim"
	@echo "make format   put the code into the house format"
	@echo "make clean    remove everything that make made"
	@echo "Another Python than python3: make test PYTHON=python3.12"

demo: $(VENV)/.installed-plot
	@$(BIN)/steelyard demo

# Kernels are compiled beforehand, all of them by as many processes as there are processors: tests compile next to
# nothing. So are test files read: pytest rewrites the asserts of each and keeps the result, which each of its processes
# would otherwise do for itself, and traced. The linters leave a processor idle, which the plain kernels use.
test: $(VENV)/.installed-dev
	@$(MAKE) --no-print-directory --jobs 2 kernels collect
	@$(MAKE) --no-print-directory --jobs 2 check test-plain
	@echo "pytest; coverage of everything"
	@$(PYTEST) --cov --cov-append --cov-report term

kernels: $(VENV)/.installed-dev
	@$(BIN)/python -m steelyard.building

collect: $(VENV)/.installed-dev
	@$(BIN)/python -m pytest --quiet --collect-only > $(VENV)/collect.log 2>&1 || { cat $(VENV)/collect.log >&2; exit 1; }

test-plain: $(VENV)/.installed-dev
	@echo "pytest, kernels as plain Python"
	@NUMBA_DISABLE_JIT=1 $(PYTEST) $(KERNEL_TESTS) \
		--cov --cov-report= --cov-fail-under=0

# Every kernel is compiled anew for this, which takes minutes: run it after a change in learn/ or text/.
test-bounds: $(VENV)/.installed-dev
	@echo "pytest, kernels with bounds checked"
	@NUMBA_BOUNDSCHECK=1 $(PYTEST) $(KERNEL_TESTS)

# The scorer in JavaScript beside ours; needs node.
test-node: $(VENV)/.installed-dev
	@$(PYTEST) tests/predictor/test_javascript.py -m node

# Scorers within the real engines: those of datatrove, Ray Data and Dask that are installed.
test-bindings: $(VENV)/.installed-dev
	@$(PYTEST) tests/filtering/test_table_scorer.py -m bindings

# Environments are made once, in $(VENV)/versions. One Python or one end only: make test-versions ONLY="--python 3.12".
test-versions: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.support.versions $(ONLY)

# A wheel is built and installed into a fresh environment: make test-installed ONLY="--python 3.12 --end oldest".
test-installed: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.support.installed $(ONLY)

# What people install, with the extras that commands use, as pip resolves it today. Strict: what could not be looked up fails.
audit: $(VENV)/.installed-audit
	@$(BIN)/python -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
		extras = project["optional-dependencies"]; shipped = ("plot", "arrow", "excel", "onnx", "label"); \
		print(*project["dependencies"], *(line for name in shipped for line in extras[name]), sep="\n")' > $(VENV)/shipped.txt
	@$(BIN)/pip-audit --strict --progress-spinner off --requirement $(VENV)/shipped.txt

# The page of `active label` in a real Chromium; tools/install_browser.sh installs one on Debian.
test-browser: $(VENV)/.installed-browser
	@$(BIN)/python -m pytest --quiet -m browser tests/labelling

# STEELYARD_KILLS says how many workers are killed on each engine.
test-cluster: $(VENV)/.installed-cluster
	@echo "pytest, clusters"
	@$(BIN)/python -m pytest --quiet -m cluster tests/distributed

# Inputs that find something are kept in build/fuzz; docs/hardening.md says more.
fuzz: $(VENV)/.installed-dev
	@$(BIN)/python -m fuzzing --seconds $(if $(LONG),900,20) $(ONLY)

KILLS ?= 50
soak: $(VENV)/.installed-dev
	@$(BIN)/python -m fuzzing.soak --kills $(KILLS) $(ONLY)
	@$(BIN)/python -m fuzzing.soak.memory
	@$(PYTEST) -m soak tests/cli tests/estimators

bench-cluster: $(VENV)/.installed-cluster
	@$(BIN)/python -m benchmarks.clusters.merging
	@$(BIN)/python -m benchmarks.clusters.engines

check: $(VENV)/.installed-dev
	@echo "ruff check"
	@$(BIN)/ruff check --quiet
	@echo "ruff format"
	@$(BIN)/ruff format --check --quiet || { echo "make format would change some files" >&2; exit 1; }
	@echo "mypy"
	@$(BIN)/mypy --no-error-summary
	@echo "import contracts"
	@$(BIN)/lint-imports --no-logo > $(VENV)/contracts.log || { cat $(VENV)/contracts.log >&2; exit 1; }

format: $(VENV)/.installed-dev
	@$(BIN)/ruff check --fix-only --quiet
	@$(BIN)/ruff format

docs: $(VENV)/.installed-dev
	@$(BIN)/python docs/generate_cli.py
	@$(BIN)/python docs/generate_api.py

# Strict: a link that leads nowhere is an error. Search needs a server, as browsers do not let files read files.
site: $(VENV)/.installed-site
	@$(BIN)/zensical build --clean --strict
	@echo "open build/site/index.html in a browser, or with search: $(BIN)/python -m http.server --directory build/site"

bench: $(VENV)/.installed-bench
	@$(BIN)/python -m benchmarks.speed.run

paper: $(VENV)/.installed-plot
	@$(BIN)/python -m paper

paper-quick: $(VENV)/.installed-plot
	@$(BIN)/python -m paper --quick

clean:
	rm -rf $(VENV) build dist steelyard-demo paper-report paper-report-quick .coverage .coverage.* htmlcov benchmarks/results
	rm -rf .cache .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks fuzzing paper -name __pycache__ -prune -exec rm -rf {} +

# The package's own __init__.py holds the version, which an installation remembers. Not compiled: half of what pip
# takes is the bytecode of modules that no test imports; those that one does are compiled on the way.
$(VENV)/.installed-dev: pyproject.toml src/steelyard/__init__.py | $(VENV)/bin/python
	$(call install,dev,--no-compile)
	@touch $(VENV)/.installed-plot $@

$(VENV)/.installed-browser: pyproject.toml src/steelyard/__init__.py | $(VENV)/bin/python
	$(call install,browser)
	@touch $(VENV)/.installed-dev $@

$(VENV)/.installed-audit: pyproject.toml | $(VENV)/bin/python
	$(call install,audit)
	@touch $@

$(VENV)/.installed-cluster: $(VENV)/.installed-dev
	$(call install,cluster)
	@touch $@

$(VENV)/.installed-site: pyproject.toml src/steelyard/__init__.py | $(VENV)/bin/python
	$(call install,site)
	@touch $@

$(VENV)/.installed-plot: pyproject.toml src/steelyard/__init__.py | $(VENV)/bin/python
	$(call install,demo)
	@touch $@

# One by one, and from wheels only: a peer that does not install is left out, and the tables say so.
$(VENV)/.installed-bench: $(VENV)/.installed-plot
	@for peer in $$($(BIN)/python -c 'import tomllib; \
		print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["bench"])'); do \
		echo "installing $$peer into $(VENV)"; \
		$(BIN)/python -m pip install --disable-pip-version-check --only-binary :all: "$$peer" > $(VENV)/install.log 2>&1 \
			|| echo "$$peer did not install, see $(VENV)/install.log: left out" >&2; \
	done
	@touch $@

$(VENV)/bin/python:
	@command -v $(PYTHON) > /dev/null || { echo "there is no $(PYTHON): install Python 3.11 or newer, or say PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "steelyard needs Python 3.11 or newer, $(PYTHON) is $$($(PYTHON) --version 2>&1); say PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "making $(VENV) with $$($(PYTHON) --version 2>&1)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "could not make $(VENV): does $(PYTHON) have its venv module?" >&2; exit 1; }

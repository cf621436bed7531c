# make demo      install into .venv, and search a small collection by words, by meaning and by both: benchmark-insurance/
# make stages    a search pipeline of five stages with real, small models, and whether it survives ten kills; takes a while
# make test      run the tests, and those that use the native kernel once more without it
# make quick     format, lint, types, layers and the quick part of the tests, in less than a minute
# make check     format, lint, types, layers, docs, tests
# make bench     speed and memory against other tools; bench-large with a million queries; bench-short in a minute
# make calibration  how often tests and intervals err on real data, in a few minutes; needs ../shared/data
# make fuzz      search all readers and the kernel (needs clang) for faults: an hour, or SECONDS=600; fuzz-short for CI
# make sanitize  the kernel's tests under AddressSanitizer and UBSan, and its threads under TSan (needs g++)
# make coverage  which lines and branches the tests run, for docs/quality.md; make mutants changes the code and counts who notices
# make test-conventions  hold the conventions against the tools themselves, each in an environment of its own; TOOL=ranx for one
PYTHON ?= python3
BIN := .venv/bin
QUICK := $(addprefix tests/,reading unit laws golden gate validation records)
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

# Where Python is told to write no bytecode, every process compiles assay anew and every test run its tests.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help install demo stages test test-conventions quick check format docs bench bench-large bench-short calibration sanitize fuzz fuzz-short coverage mutants pictures clean

help:
	@sed -n 's/^# //p' Makefile

# Bytecode is compiled at once, so that the first command starts as fast as the later ones.
.venv/.installed: pyproject.toml constraints.txt setup.py $(wildcard src/assay/native/*.[ch]pp)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "assay needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Say which one to use: make PYTHON=python3.12")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing assay into .venv ..."
	@$(PIP) install -c constraints.txt -e '.[all]'
	@$(BIN)/assay --version
	@$(BIN)/python -m compileall -q .venv/lib src || true
	@touch $@

.venv/.installed-tools: .venv/.installed
	@echo "Installing what the tests and checks need ..."
	@$(PIP) install -c constraints.txt -e '.[all,test,check]'
	@$(BIN)/python tests/engines/fetch_qdrant.py
	@$(BIN)/python tests/web/fetch_axe.py
	@touch $@

install: .venv/.installed

demo: .venv/.installed
	@$(BIN)/assay benchmark run

stages: .venv/.installed-tools
	$(BIN)/assay benchmark run examples/stages.toml
	ASSAY_ALL_STAGES=1 $(BIN)/python -m pytest -n 0 tests/benchmark/test_killed.py -k five_stages

# The second run leaves out tests/reading and tests/laws/test_laws.py: they never use the kernel. Readers are Python, and the
# laws judge with strays, which only NumPy does. tests/native holds the two paths against each other.
test: .venv/.installed-tools
	$(BIN)/python -m pytest -n auto
	ASSAY_NATIVE=0 $(BIN)/python -m pytest -n auto tests/unit tests/golden tests/laws/test_ties.py

quick: .venv/.installed-tools
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n auto -m 'not slow' $(QUICK)

check: .venv/.installed-tools
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/generate.py --check
	$(MAKE) test

bench: .venv/.installed-tools
	$(BIN)/python bench/run.py

bench-large: .venv/.installed-tools
	$(BIN)/python bench/run.py --large

bench-short: .venv/.installed-tools
	$(BIN)/python bench/run.py --short

calibration: .venv/.installed-tools
	$(BIN)/python bench/calibration.py
	$(BIN)/python bench/leaderboards.py
	$(BIN)/python bench/gates.py

sanitize: .venv/.installed-tools
	$(BIN)/python tests/native/fuzz/run.py --sanitize

SECONDS ?= 3600

fuzz: .venv/.installed-tools
	$(BIN)/python tests/fuzz/run.py --seconds $$(($(SECONDS) * 2 / 3)) --seed $$(date +%Y%m%d)
	$(BIN)/python tests/native/fuzz/run.py --seconds $$(($(SECONDS) / 3))

# The same inputs each time, so that a change fails by its own fault; `make fuzz` tries others each day.
fuzz-short: .venv/.installed-tools
	$(BIN)/python tests/fuzz/run.py --seconds 30 --seed 20251118
	$(BIN)/python tests/native/fuzz/run.py --seeds

# Figures go into tests/*/results.json, and from there into docs/quality.md.
coverage: .venv/.installed-tools
	$(BIN)/python tests/covering/run.py
	$(BIN)/python docs/generate.py

mutants: .venv/.installed-tools
	ASSAY_NATIVE=0 PYTHONPATH=tests nice $(BIN)/python -m mutation.run
	$(BIN)/python docs/generate.py

# Each tool has an environment of its own, made when it is first needed: they bring torch, numba and much else.
TOOLS := $(basename $(notdir $(wildcard tests/conventions/requirements/*.txt)))
TOOL ?= $(TOOLS)

.venv-conventions/%/.installed: tests/conventions/requirements/%.txt pyproject.toml
	@test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	@echo "Installing $* into $(@D) ..."
	@$(@D)/bin/python -m pip --disable-pip-version-check -q install -e . pytest hypothesis -r $<
	@touch $@

.PRECIOUS: .venv-conventions/%/.installed

test-conventions: $(TOOL:%=test-convention-%)

test-convention-%: .venv-conventions/%/.installed
	$(<D)/bin/python -m pytest tests/conventions/test_$(subst -,_,$*)*.py -o addopts='-q --import-mode=importlib' -o filterwarnings=default

format: .venv/.installed-tools
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: .venv/.installed-tools
	$(BIN)/python docs/generate.py

# The pictures of docs/workbench.md and docs/notebook.md; needs chromium.
pictures: .venv/.installed-tools
	$(BIN)/python docs/pictures.py

clean:
	rm -rf .venv .venv-conventions build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis benchmark-insurance

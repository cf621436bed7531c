# make demo      install into .venv, and search a small collection by words, by meaning and by both: benchmark-insurance/
# make test      run the tests, and those that use the native kernel once more without it
# make quick     format, lint, types, layers and the quick part of the tests, in less than a minute
# make check     format, lint, types, layers, docs, tests
# make bench     speed and memory against other tools; bench-large with a million queries; bench-short in a minute
# make calibration  how often tests and intervals err on real data, in a few minutes; needs ../shared/data
# make sanitize  the kernel's tests under AddressSanitizer and UBSan; make fuzz searches it for ten minutes (needs clang)
# make test-ranx hold assay against ranx and packages that search, in an environment of their own
PYTHON ?= python3
BIN := .venv/bin
QUICK := $(addprefix tests/,reading unit laws golden gate validation records)
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

# Where Python is told to write no bytecode, every process compiles assay anew and every test run its tests.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help install demo test test-ranx quick check format docs bench bench-large bench-short calibration sanitize fuzz clean

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
	@touch $@

install: .venv/.installed

demo: .venv/.installed
	@$(BIN)/assay benchmark run

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

sanitize: .venv/.installed-tools
	$(BIN)/python tests/native/fuzz/run.py --sanitize

fuzz: .venv/.installed-tools
	$(BIN)/python tests/native/fuzz/run.py --seconds 600

# ranx has an environment of its own: it brings numba and much else. So do the packages whose search results we take.
.venv-ranx/.installed: pyproject.toml
	@test -x .venv-ranx/bin/python || $(PYTHON) -m venv .venv-ranx
	@.venv-ranx/bin/python -m pip --disable-pip-version-check -q install -e . ranx pytest hypothesis \
		langchain-core haystack-ai llama-index-core qdrant-client
	@touch $@

test-ranx: .venv-ranx/.installed
	.venv-ranx/bin/python -m pytest tests/extra -o addopts=--import-mode=importlib -o filterwarnings=default

format: .venv/.installed-tools
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: .venv/.installed-tools
	$(BIN)/python docs/generate.py

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis benchmark-insurance

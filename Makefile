# Everything runs in .venv, which the first target that needs it makes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
DEV := $(VENV)/.dev
WHEEL := .venv-wheel

.PHONY: help setup demo test lint types docs wheel bench bench-full clean

help:
	@echo "make demo        set up and select features on embedded data"
	@echo "make test        set up and run the tests"
	@echo "make setup       only make .venv"
	@echo "make bench       speed against other packages, on a few small sets: a quarter of an hour"
	@echo "make bench-full  the same on all sets and shapes: hours; make it again to go on"
	@echo "make wheel       build the wheel, and run the demo and the README from it alone"
	@echo "make lint | types | docs | clean"

$(CORE): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(DEV): $(CORE)
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@

setup: $(CORE)

demo: $(CORE)
	$(BIN)/dsofs demo

test: $(DEV)
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(DEV)
	$(BIN)/mypy

docs: $(DEV)
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs docs/_build/html
	@echo "docs/_build/html/index.html"

wheel:
	rm -rf dist $(WHEEL)
	$(PYTHON) -m venv $(WHEEL)
	$(WHEEL)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(WHEEL)/bin/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	$(WHEEL)/bin/python -m pip install --quiet dist/*.whl
	cd dist && ../$(WHEEL)/bin/dsofs demo
	$(WHEEL)/bin/python -W error tests/code_blocks.py README.md

bench: $(DEV)
	$(BIN)/python -m benchmarks.run --quick --rounds 3 --limit 60

bench-full: $(DEV)
	$(BIN)/python -m benchmarks.run --limit 600 --go-on

clean:
	rm -rf $(VENV) $(WHEEL) docs/_build docs/generated docs/gallery dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

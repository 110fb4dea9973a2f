# Everything runs in .venv, which the first target that needs it makes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
DEV := $(VENV)/.dev

.PHONY: help setup demo test lint types docs bench clean

help:
	@echo "make demo    set up and select features on embedded data"
	@echo "make test    set up and run the tests"
	@echo "make setup   only make .venv"
	@echo "make lint | types | docs | bench | clean"

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
	$(BIN)/python -m pytest

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV)
	$(BIN)/mypy

docs: $(DEV)
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs docs/_build/html
	@echo "docs/_build/html/index.html"

bench: $(DEV)
	$(BIN)/python -m benchmarks.run

clean:
	rm -rf $(VENV) docs/_build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

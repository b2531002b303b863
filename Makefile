# `make app` sets up and starts the dashboard; `make test` sets up and runs all tests.
PYTHON ?= python3
VENV ?= .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif

.PHONY: app setup test nightly benchmarks fidelity strategies algorithms learning clean

app: setup
	$(BIN)/python -m streamlit run app.py

setup: $(VENV)/.kanon

$(VENV)/pyvenv.cfg:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'kanon needs Python 3.11 or newer')"
	$(PYTHON) -m venv $(VENV)

$(VENV)/.kanon: $(VENV)/pyvenv.cfg requirements.txt $(wildcard kanon/kernels/*.py) kanon/measures/along.py
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m kanon.warm
	touch $@

$(VENV)/.kanon-dev: $(VENV)/.kanon requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

test: $(VENV)/.kanon-dev
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/python -m pytest -n 2

# What is too heavy for every change.
nightly: $(VENV)/.kanon-dev
	$(BIN)/python -m pytest -n 2 -m nightly --durations 20

# These write pages of docs/; all need KANON_ADULT, the last one Chromium too. Twenty minutes, one, five,
# three and fifteen.
benchmarks: $(VENV)/.kanon-dev
	$(BIN)/python -m benchmarks

fidelity: $(VENV)/.kanon-dev
	$(BIN)/python -m benchmarks.fidelity

strategies: $(VENV)/.kanon-dev
	$(BIN)/python -m benchmarks.strategies

algorithms: $(VENV)/.kanon-dev
	$(BIN)/python -m benchmarks.algorithms

learning: $(VENV)/.kanon-dev
	$(BIN)/python -m benchmarks.learning

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis tests/output

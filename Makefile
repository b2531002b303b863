# `make app` sets up and starts the dashboard; `make test` sets up and runs all tests.
PYTHON ?= python3
VENV ?= .venv
# The exact versions that are installed; `make CONSTRAINTS=` takes the newest in the ranges.
CONSTRAINTS ?= constraints.txt
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
# What a start imports Python compiles as it goes, and keeps, whatever the environment says.
export PYTHONDONTWRITEBYTECODE =

.PHONY: app setup packages constraints test quick slow static types style docs pictures rooms nightly sbom audit bad-inputs vocabulary \
	schemas benchmarks peers fidelity strategies simulated population algorithms learning reliability clean

# The kernels of the first result are compiled while the page is drawn, the others after the first result.
app: $(VENV)/.kanon
	$(BIN)/python -m streamlit run app.py

setup: $(VENV)/.warm

$(VENV)/pyvenv.cfg:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'kanon needs Python 3.11 or newer')"
	$(PYTHON) -m venv $(VENV)

# What is never imported need not be compiled to bytecode: that would take half a minute.
INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile $(addprefix -c ,$(CONSTRAINTS))

$(VENV)/.kanon: $(VENV)/pyvenv.cfg requirements.txt $(CONSTRAINTS)
	$(BIN)/python $(INSTALL) -r requirements.txt
	touch $@

# What another clone has compiled of the same kernels is not compiled again.
$(VENV)/.warm: $(VENV)/.kanon $(wildcard kanon/kernels/*.py)
	$(BIN)/python tests/support/kernel_store.py fetch
	$(BIN)/python -m kanon.warm
	$(BIN)/python tests/support/kernel_store.py keep
	touch $@

$(VENV)/.kanon-dev: $(VENV)/.kanon requirements-spark.txt requirements-dev.txt
	$(BIN)/python $(INSTALL) -r requirements-spark.txt -r requirements-dev.txt
	touch $@

packages: $(VENV)/.kanon-dev

# constraints.txt anew: the newest versions in the ranges. Make it with the oldest Python that kanon
# goes with, so that the others have all of them too, and commit it when `make test` has passed.
NEWEST ?= .venv-newest

constraints:
	rm -rf $(NEWEST)
	$(MAKE) VENV=$(NEWEST) CONSTRAINTS= packages
	$(NEWEST)/$(notdir $(BIN))/python -m pip freeze --all --exclude pip > constraints.txt

# The kernels are compiled while packages are fetched and types are checked. To rewrite each assert, so
# that it tells the values it compares, takes a minute: only what has failed is run again in this way.
test: $(VENV)/.kanon
	$(MAKE) --jobs=2 $(VENV)/.warm static
	$(BIN)/python -m pytest -n 2 --assert=plain --durations 20 || \
		{ $(BIN)/python -m pytest --last-failed --last-failed-no-failures=none; false; }

# While working: without a browser, without tables of Adult's size and what tests/slow.txt names, and on
# half of the random tables.
QUICK := KANON_EXAMPLES=0.025 $(BIN)/python -m pytest -n 2 --durations 20 -m

quick: $(VENV)/.kanon-dev
	$(MAKE) --jobs=2 $(VENV)/.warm static
	$(QUICK) "not (browser or adult or nightly or slow)"

# What `make quick` leaves out: the tests of which a case takes long here.
slow: $(VENV)/.kanon-dev $(VENV)/.warm
	$(QUICK) "not (browser or adult or nightly)" --junitxml build/tests.xml
	$(BIN)/python tests/support/slow_tests.py build/tests.xml > build/slow.txt
	mv build/slow.txt tests/slow.txt

static: style types

types: $(VENV)/.kanon-dev
	$(BIN)/python -m mypy

style: $(VENV)/.kanon-dev
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python tests/support/names.py

# The documentation as a site: build/docs/index.html.
docs: $(VENV)/.kanon-dev
	rm -rf build/docs
	$(BIN)/python -m sphinx -E -q -W --keep-going -d build/doctrees docs build/docs

# The pictures in docs/pictures/, one per page of the dashboard, as a test in the browser sees it.
pictures: $(VENV)/.kanon-dev $(VENV)/.warm
	KANON_PICTURES=1 $(BIN)/python -m pytest tests/browser/test_pages.py -k every_control_has_a_name
	cp tests/output/pages/*.png docs/pictures/

# The picture of the rooms in docs/contribute/architecture.md, from the imports.
rooms: $(VENV)/.kanon-dev
	PYTHONPATH=.:tests $(BIN)/python tests/support/rooms.py

# What is too heavy for every change. EXAMPLES=1 tries all random tables, and takes hours.
EXAMPLES ?= 0.25

nightly: $(VENV)/.warm docs
	KANON_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest -n 2 -m "nightly or hypothesis" --durations 20

# What is installed where kanon runs, in environments of their own: without what the tests need, and
# without changing it.
RELEASE ?= .venv-release
TOOLS ?= .venv-tools

$(TOOLS)/.tools: Makefile
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/$(notdir $(BIN))/python -m pip install --quiet --disable-pip-version-check "cyclonedx-bom>=7,<8" "pip-audit>=2.9,<3"
	touch $@

# A bill of materials, sbom.json (CycloneDX), of the versions that are installed now.
sbom: $(TOOLS)/.tools
	$(MAKE) VENV=$(RELEASE) $(RELEASE)/.kanon
	$(TOOLS)/$(notdir $(BIN))/cyclonedx-py environment --output-reproducible --output-file sbom.json $(RELEASE)

# Known vulnerabilities of those versions. Without --strict, what could not be looked up would pass.
audit: $(TOOLS)/.tools
	$(MAKE) VENV=$(RELEASE) $(RELEASE)/.kanon
	PIPAPI_PYTHON_LOCATION=$(RELEASE)/$(notdir $(BIN))/python $(TOOLS)/$(notdir $(BIN))/pip-audit --strict --local || \
		{ echo "audit failed: something was found, or could not be looked up (see above). Nothing is known to be free of vulnerabilities." >&2; exit 1; }

# The page of what is said to bad inputs, from the table of their test.
bad-inputs: $(VENV)/.kanon-dev
	KANON_WRITE=1 $(BIN)/python -m pytest -q tests/studio/test_bad_inputs.py

# The page of the words, from kanon/teaching/glossary.toml and the cards of the parts.
vocabulary: $(VENV)/.kanon
	$(BIN)/python -m kanon.teaching.glossary > docs/reference/vocabulary.md

# The JSON schemas of files, from the models that read them.
schemas: $(VENV)/.kanon-dev
	PYTHONPATH=.:tests $(BIN)/python tests/support/schemas.py

# These write pages of docs/; all need KANON_ADULT, the last one Chromium too. 75 minutes, one, five,
# seven, three and fifteen.
benchmarks: $(VENV)/.kanon-dev $(VENV)/.warm
	$(BIN)/python -m benchmarks

# Installs other tools under build/peers; ten minutes.
peers: $(VENV)/.kanon-dev $(VENV)/.warm
	$(BIN)/python -m benchmarks.peers

fidelity: $(VENV)/.kanon-dev $(VENV)/.warm
	$(BIN)/python -m benchmarks.fidelity

strategies: $(VENV)/.kanon-dev $(VENV)/.warm
	$(BIN)/python -m benchmarks.strategies

simulated: $(VENV)/.kanon-dev $(VENV)/.warm
	$(BIN)/python -m benchmarks.simulated

# Needs no table; five minutes.
population: $(VENV)/.kanon-dev
	$(BIN)/python -m benchmarks.population

algorithms: $(VENV)/.kanon-dev $(VENV)/.warm
	$(BIN)/python -m benchmarks.algorithms

learning: $(VENV)/.kanon-dev $(VENV)/.warm
	$(BIN)/python -m benchmarks.learning

# Writes docs/figures/reliability.md; needs Chromium and takes three hours. PARTS=releases runs one part of it.
reliability: $(VENV)/.kanon-dev $(VENV)/.warm
	$(BIN)/python -m benchmarks.reliability $(PARTS)

clean:
	rm -rf $(VENV) $(RELEASE) $(TOOLS) $(NEWEST) build sbom.json .mypy_cache .ruff_cache .hypothesis tests/output

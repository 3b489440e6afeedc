# All that a newcomer needs: `make run` and `make test`. Both set up .venv on first use.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNS := runs
DOCS := .venv-docs
SITE := site
LOCK = $(shell $(PYTHON) requirements/lock.py --name)   # of this Python and platform, if there is one
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help setup run test check bench docs lock clean

help:
	@echo "make run     200 units cross an RTS arena: a result table and a replay page"
	@echo "make test    all tests"
	@echo "make check   ruff and mypy"
	@echo "make bench   speed compared with other libraries in the same run"
	@echo "make docs    the documentation as a site in $(SITE), which opens in a browser; in an environment of its own"
	@echo "make setup   set up $(VENV), nothing else; with the locked versions where there is a lock file"
	@echo "make lock    write the lock file of this Python and platform anew"
	@echo "make clean   remove $(VENV), $(DOCS), $(RUNS) and $(SITE)"

$(VENV)/ready: pyproject.toml $(wildcard requirements/*.lock)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Wend needs Python 3.11 or newer; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	if [ -f $(LOCK) ]; \
	then $(PIP) --require-hashes --requirement $(LOCK) && $(PIP) --no-deps --no-build-isolation --editable .; \
	else $(PIP) --editable '.[experiments,viewer,video,cluster,dev,bench]'; \
	fi
	touch $@

setup: $(VENV)/ready

run: setup
	$(BIN)/wend solve arena:seed=0 --problem cross-sides --agents 200 --out $(RUNS)/arena.wend
	@echo "Open this page in a browser to watch it:"
	@$(BIN)/wend replay $(RUNS)/arena.wend --html $(RUNS)/arena.html
	@echo "Play with it yourself, at http://127.0.0.1:8383/: $(BIN)/wend play"

test: setup
	$(BIN)/python -m pytest -n auto
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n auto -m small
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n auto -m small

check: setup
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: setup
	$(BIN)/python -m benchmarks

# The site is built from the sources without importing them, so it needs the extra `docs` and nothing of Wend.
$(DOCS)/ready: pyproject.toml
	$(PYTHON) -m venv $(DOCS)
	$(PYTHON) -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
		print(*project["optional-dependencies"]["docs"], sep="\n")' > $(DOCS)/requirements.txt
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $(DOCS)/requirements.txt
	touch $@

docs: $(DOCS)/ready
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict --quiet --site-dir $(SITE)
	@echo "Open $(SITE)/index.html in a browser."

lock: setup
	$(BIN)/python requirements/lock.py

clean:
	rm -rf $(VENV) $(DOCS) $(RUNS) $(SITE)

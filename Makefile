# Two commands are enough: `make demo` and `make test`. Both make the environment they need.

PYTHON ?= $(shell command -v python3.11 || command -v python3 || echo python3)
VENV   := .venv
STAMP  := $(VENV)/.installed
BIN    := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest -n 2

.DEFAULT_GOAL := help
.PHONY: help demo test fast lint bench docs wheel browser spu clean

help: ## show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(STAMP) ## protect a real table, mine it, decode the models, write demo-out/report.html
	$(BIN)/unspoken demo --out demo-out --overwrite

test: lint browser spu ## ruff, mypy and every test
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

docs: $(STAMP) ## write docs/reference/cli.md from the parsers and api.md from the docstrings
	$(BIN)/python -m unspoken.cli.reference docs/reference/cli.md
	$(BIN)/python docs/api_reference.py docs/reference/api.md

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

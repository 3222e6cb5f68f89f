# qkva. Run `make` alone to see what there is. Nothing here needs more than make, a POSIX shell and Python 3.11-3.13.

SHELL := /bin/sh
VENV ?= .venv
PORT ?= 2024
export VENV
export PYTHON
BIN := $(VENV)/bin
ENVIRONMENT := scripts/environment.sh

.DEFAULT_GOAL := help
.PHONY: help demo test dev lint format bench lock docs docs-check wheel clean

help: ## Show this list
	@echo "make TARGET, where TARGET is one of"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' Makefile | awk -F'|' '{ printf "%-14s %s\n", $$1, $$2 }'
	@echo "PYTHON=… chooses the interpreter, VENV=… another environment than .venv"

demo: ## Answer a few questions about a demo shop, from nothing but Python
	@$(ENVIRONMENT) runtime
	@"$(BIN)/qkva" demo

test: ## Run all tests (ARGS="tests/planning -x" chooses some)
	@$(ENVIRONMENT) dev
	@"$(BIN)/python" -m pytest $(ARGS)

dev: ## Serve the demo with the LangGraph server: Studio, SDK, MCP, A2A (PORT=2024)
	@$(ENVIRONMENT) dev
	@"$(BIN)/qkva" demo --setup-only
	@scripts/serve.sh $(PORT)

lint: ## Check style, types, the layers of imports, and that generated docs are fresh
	@$(ENVIRONMENT) dev
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .
	"$(BIN)/mypy"
	"$(BIN)/lint-imports" --no-cache
	"$(BIN)/python" docs/generate --check

format: ## Format the code and sort imports
	@$(ENVIRONMENT) dev
	"$(BIN)/ruff" check --fix .
	"$(BIN)/ruff" format .

bench: ## Measure what the README claims
	@$(ENVIRONMENT) dev
	@"$(BIN)/python" -m bench $(ARGS)

docs: ## Write the generated parts of README and docs
	@$(ENVIRONMENT) dev
	@"$(BIN)/python" docs/generate

docs-check: ## Say which generated parts are stale
	@$(ENVIRONMENT) dev
	@"$(BIN)/python" docs/generate --check

wheel: ## Build the sdist, and from it the wheel, into dist/
	@$(ENVIRONMENT) dev
	@rm -rf dist
	@"$(BIN)/python" -m build --no-isolation --outdir dist .

lock: ## Lock all packages again, by hash and without naming a host (ARGS=--upgrade takes new versions)
	@$(ENVIRONMENT) dev
	@"$(BIN)/python" -m pip install --quiet "uv>=0.6"
	@lock() { "$(BIN)/uv" pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --quiet \
	    --no-header --no-annotate --no-emit-index-url --no-emit-find-links $(ARGS) "$$@"; }; \
	lock --group build --output-file requirements.lock && \
	lock --group dev --constraint requirements.lock --output-file requirements-dev.lock

clean: ## Remove the environment, all that was built, and .qkva with its databases
	@if [ -d .qkva ] && [ -x "$(BIN)/qkva" ]; then "$(BIN)/qkva" demo --stop >/dev/null 2>&1 || true; fi
	@rm -rf "$(VENV)" .qkva .langgraph_api build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

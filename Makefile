# Everything a newcomer needs; only python3 (3.11 or later) and make must be there.

UV := $(shell command -v uv 2>/dev/null || echo .cache/uv/bin/uv)
RUN := $(UV) run --no-sync --quiet
DEMO_QUESTIONS ?= 6
DEMO_RUNS ?= 2
TEST_WORKERS ?= 3
JAVASCRIPT = .ci/javascript
# What tests that pass have written is removed at once, before it reaches the disk.
TESTS = $(RUN) pytest -n $(TEST_WORKERS) --dist worksteal -q -o tmp_path_retention_policy=failed
# Without compiled modules every run would rewrite every assertion anew.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all nightly check scripts audit docs outputs licences screenshots benchmark clean

help:  ## Show these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: setup  ## Run the benchmark on the built-in model: no key, no network, under two minutes
	$(RUN) pytest --model local --evaluator-model local --topics=examples/demo \
	  --limit $(DEMO_QUESTIONS) --runs $(DEMO_RUNS) --subject-max-tokens 256 --evaluator-max-tokens 500 \
	  --output=results/demo.neutrality.json --report=results/demo.html --fresh

test: setup  ## Run the quick tests, before every commit: free and offline
	$(TESTS) tests -m "not slow and not nightly"

test-all: setup  ## Run the slow tests, too
	$(TESTS) tests -m "not nightly"

nightly: setup  ## Run everything: long simulations, attacks at full size, mutations
	$(TESTS) tests
	EQUIPOISE_PLAIN_SESSIONS=1 $(TESTS) tests/sessions -m "not slow and not nightly"
	$(RUN) python tests/mutations/run.py
	@$(MAKE) --no-print-directory audit

check: setup  ## Lint, formatting, types, declared imports, data, scripts of pages
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy
	$(RUN) deptry equipoise
	$(RUN) equipoise data validate
	$(RUN) equipoise data construct borderlines --check
	@if command -v npm > /dev/null; then $(MAKE) --no-print-directory scripts; \
	else echo "The pages' scripts are not checked: npm is missing"; fi

scripts: $(JAVASCRIPT)/node_modules  ## Lint and type-check the scripts of the pages; needs npm
	npm run --silent --prefix $(JAVASCRIPT) check

$(JAVASCRIPT)/node_modules: $(JAVASCRIPT)/package-lock.json
	npm ci --silent --no-audit --no-fund --prefix $(JAVASCRIPT)
	@touch $@

audit: $(UV)  ## Ask a public service for known vulnerabilities of the locked packages
	@mkdir -p .cache
	@$(UV) export --locked --quiet --no-emit-project --all-extras --output-file .cache/requirements.txt > /dev/null
	@$(UV) run --locked --quiet --only-group audit --isolated \
	  pip-audit --strict --disable-pip --require-hashes --progress-spinner off -r .cache/requirements.txt \
	|| { echo "make audit: pip-audit failed: a vulnerability that is listed above, or its service is not reached"; exit 1; }

docs: $(UV)  ## Build the site into docs/_build/html; broken links and other warnings are errors
	@$(UV) sync --locked --quiet --group docs
	$(RUN) sphinx-build -W --keep-going -n -q -b html docs docs/_build/html

outputs: setup  ## Paste the output of commands into README.md and docs/ again
	$(RUN) python docs/outputs.py

licences: setup  ## List the licences of the installed packages in docs/licences.md again
	$(RUN) python docs/licences.py

screenshots: setup  ## Make the pictures in docs/images from real runs of the built-in model; needs chromium
	$(RUN) python docs/images/make.py docs/images

benchmark: setup  ## Measure the engine's own cost
	$(RUN) python benchmarks/sdk.py
	$(RUN) python benchmarks/throughput.py

setup: $(UV)  ## Install the locked environment into .venv
	@$(UV) sync --locked --quiet --compile-bytecode

.cache/uv/bin/uv:
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed")'
	@echo "uv is missing: installing it into .cache/uv"
	@python3 -m venv .cache/uv || { echo "python3 has no venv module: install it (Debian: python3-venv) or uv"; exit 1; }
	@.cache/uv/bin/python -m pip install --quiet --disable-pip-version-check uv

clean:  ## Remove the environment, the site and all caches, never results
	rm -rf .venv .cache .pytest_cache .mypy_cache .ruff_cache docs/_build docs/texts $(JAVASCRIPT)/node_modules

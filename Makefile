# Everything a person runs here. `make run` starts the house, `make test` passes the tests; both do their own set-up.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOCK := deploy/requirements.lock
DATA ?= .data
FLOOR ?= --floors 1 --tables 4 --seats 5 --pace 0.5
TESTS ?= tests

.DEFAULT_GOAL := help
.PHONY: help setup run pki cluster cluster-status cluster-stop test check protos format lock bench faults load clean

help:  ## say what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | column -t -s "$$(printf '\t')"

setup: $(VENV)/.ready  ## build .venv with the command at .venv/bin/holecard

$(VENV)/.ready: $(LOCK) pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Holecard needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement $(LOCK)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

run: setup  ## start the four services, a simulated floor and the console, in plain text on this machine alone
	$(BIN)/holecard up --plain-text --data $(DATA) $(FLOOR)

pki: setup  ## make a development authority and its certificates in deploy/dev/pki (never committed)
	$(BIN)/holecard pki init

cluster: setup  ## start Kafka, two processes of every service, the console and simulated floors, each kept alive
	deploy/system-packages default-jre-headless maven prometheus
	$(BIN)/python deploy/cluster/cluster.py start $(DATA)/cluster

cluster-status: setup  ## say what of the cluster runs, and who owns which partitions
	$(BIN)/python deploy/cluster/cluster.py status $(DATA)/cluster

cluster-stop: setup  ## stop the cluster; the next start goes on where it was
	$(BIN)/python deploy/cluster/cluster.py stop $(DATA)/cluster

test: setup  ## install what the tests need, then check and test everything
	deploy/system-packages chromium default-jre-headless maven postgresql prometheus
	deploy/go-binary helm >/dev/null
	$(MAKE) --no-print-directory check
	$(BIN)/python -m pytest $(TESTS) --numprocesses auto --dist loadgroup

check: setup  ## lint, types, import contracts, protos
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python protos/generate.py --check
	deploy/buf lint protos
	deploy/buf breaking protos --against protos/published.binpb

protos: setup  ## generate services/wire/gen from protos/
	$(BIN)/python protos/generate.py

format: setup  ## format and mend what can be mended by itself
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: setup  ## resolve the lower bounds of pyproject.toml into the lock files again: all, and what the image holds of it
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --all-extras --upgrade --no-annotate --no-header \
		--output-file $(LOCK) pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header --constraint $(LOCK) \
		--output-file deploy/requirements.runtime.lock pyproject.toml
	echo hatchling | $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header \
		--constraint $(LOCK) --output-file deploy/requirements.build.lock -

bench: setup  ## print the measures as ratios in one run
	$(BIN)/python -m load

faults: setup  ## kill the house again and again for minutes, then verify
	$(BIN)/python -m pytest tests/faults -m faults --capture=no -p no:randomly

load: setup  ## drive whole rounds over gRPC and say where the time goes
	$(BIN)/python -m load.rounds --profile

clean:  ## remove what was built, not .data
	rm -rf $(VENV) .tools .mypy_cache .ruff_cache .pytest_cache .hypothesis

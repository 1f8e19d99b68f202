# Everything runs in an environment of its own, made on first use. Two are enough to begin: `make demo`, `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Stamp of the finished environment: made again when what it is made from changes.
READY := $(VENV)/.ready-$(shell cat pyproject.toml ci/requirements-dev.txt | cksum | cut -d' ' -f1)
# PyTorch, Ray and Spark are gigabytes: their tests have an environment of their own.
ENGINES ?= .venv-engines
ENGINES_READY := $(ENGINES)/.ready-$(shell cat pyproject.toml ci/requirements-engines.txt | cksum | cut -d' ' -f1)

.PHONY: demo demo-gate gate adapt test engines test-engines test-whole check generate bench conformance fuzz parity scenarios chaos help clean

help: ## What can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

$(READY):
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --requirement ci/requirements-dev.txt --editable .
	@rm -f $(VENV)/.ready-*
	@touch $@

$(ENGINES_READY):
	$(PYTHON) -m venv $(ENGINES)
	$(ENGINES)/bin/python -m pip install --quiet --upgrade pip
	$(ENGINES)/bin/python -m pip install --quiet --requirement ci/requirements-engines.txt --editable .
	@rm -f $(ENGINES)/.ready-*
	@touch $@

# buf/validate/validate_pb2.py is rendered from the installed protovalidate and never committed.
generated/python/buf/validate/validate_pb2.py: $(READY)
	@$(BIN)/python -m protocontract_compiler.protoc generated/python

SETUP := $(READY) generated/python/buf/validate/validate_pb2.py

demo: $(SETUP) ## Guard a dirty stream: in memory, or on KAFKA_BOOTSTRAP_SERVERS where that is set
	@$(BIN)/python docs/demo/demo.py

demo-gate: $(SETUP) ## A field is added: the gate is red for each module, and green when all have adapted
	@$(BIN)/python docs/demo-gate/story.py

gate: $(SETUP) ## Judge this repository's own modules against where the branch came from
	@.ci/gate $(BIN)/protocontract

adapt: $(SETUP) ## Prove that all of them have adapted, and write their locks (contracts/locks)
	@$(BIN)/protocontract adapt --all $(if $(AGAINST),--against $(AGAINST))

test: $(SETUP) ## All tests that need no server; those of a broker run where KAFKA_BOOTSTRAP_SERVERS is set
	@$(BIN)/python -m tests

engines: $(ENGINES_READY) # their environment alone

# The first environment too: code is generated for protobuf 6, which protobuf 7 of the second one accepts.
test-engines: $(SETUP) $(ENGINES_READY) ## Tests with PyTorch, Ray, Spark and ONNX Runtime (Spark needs java)
	@$(ENGINES)/bin/python -m pytest -q -p no:cacheprovider tests/engines

test-whole: $(SETUP) $(ENGINES_READY) ## One story through every part (docs/whole.md), on the broker KAFKA_BOOTSTRAP_SERVERS
	@PROTOCONTRACT_ENGINES=$(abspath $(ENGINES))/bin/python $(BIN)/python -m pytest -q -p no:cacheprovider tests/whole

check: $(SETUP) ## Lint, format, types, and that generated code is what the compiler makes
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	@$(MAKE) --no-print-directory generate
	@git diff --exit-code --stat -- generated runtime/protocontract/v1 || \
	  { echo "generated code is not what the compiler makes: commit the result of make generate" >&2; exit 1; }

# All but RetrievedChunks and Chunk, whose texts are stripped of HTML: TypeScript has no exact form of that.
TYPESCRIPT := contracts/acme/finance contracts/acme/inference contracts/acme/text
generate: $(SETUP) ## Make generated/ again from contracts/
	@$(BIN)/python -m grpc_tools.protoc -I contracts --python_out=runtime --pyi_out=runtime protocontract/v1/contract.proto
	@cp contracts/protocontract/v1/contract.proto runtime/protocontract/v1/contract.proto
	@$(BIN)/protocontract compile contracts/acme -I contracts --out generated/python
	@$(BIN)/python -m grpc_tools.protoc -I contracts -I "$$($(BIN)/protocontract includes)" \
	  --grpc_python_out=generated/python acme/inference/v1/model_service.proto
	@$(BIN)/protocontract compile contracts/acme -I contracts --out generated/prometheus --target prometheus
	@$(BIN)/protocontract compile $(TYPESCRIPT) -I contracts --out generated/typescript --target typescript
	@$(BIN)/protocontract compile contracts/acme/pipeline -I contracts --out generated/typescript --target typescript \
	  --message acme.pipeline.v1.TokenizerOutput --message acme.pipeline.v1.Embedding \
	  --message acme.pipeline.v1.Conversation --message acme.pipeline.v1.ChatTurn
	@$(BIN)/protocontract compile contracts/acme -I contracts --out generated/docs --target docs
	@for target in jsonschema odcs manifest; do \
	  $(BIN)/protocontract compile contracts/acme -I contracts --out generated/$$target --target $$target || exit 1; done

bench: $(SETUP) ## Ratios against the neighbours, in one run
	@$(BIN)/python -m pip install --quiet --requirement ci/requirements-bench.txt
	@$(BIN)/python -m tests.bench
	@$(BIN)/python -m tests.bench.serving
	@test -z "$$KAFKA_BOOTSTRAP_SERVERS" || $(BIN)/python -W ignore -m tests.bench.guard

conformance: $(SETUP) ## The official protovalidate conformance suite (needs go)
	@$(BIN)/python -m tests.conformance

# One schema a seed; the line at the end says how much was compared.
SCHEMAS ?= 20000
MESSAGES ?= 100
SEED ?= 1
fuzz: $(SETUP) ## Random contracts and messages against protovalidate: SCHEMAS=20000 MESSAGES=100 SEED=1
	@$(BIN)/python -m tests.fuzz $(SCHEMAS) $(MESSAGES) $(SEED)

CASES ?= 20000
parity: $(SETUP) ## One table of cases through Python and generated TypeScript (needs node): CASES=20000
	@$(BIN)/python -m tests.typescript.parity $(CASES)

scenarios: $(SETUP) ## The table of failure scenarios; with KAFKA_BOOTSTRAP_SERVERS also on a broker
	@PROTOCONTRACT_SCENARIOS=only $(BIN)/python -m pytest -q tests/kafka tests/registry tests/chaos

# Faults, their order, and whom they strike follow from the seed.
RECORDS ?= 200000
CHAOS_SEED ?= 1
chaos: $(SETUP) ## Guards on a broker behind toxiproxy, and everything that goes wrong (needs go, java, mvn)
	@$(BIN)/python -m tests.chaos --records $(RECORDS) --seed $(CHAOS_SEED)

clean: ## Remove the environment and caches
	rm -rf $(VENV) $(ENGINES) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build generated/python/buf

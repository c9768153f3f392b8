# Verbs of the project; `make` alone lists them.

SHELL := /bin/bash
CARGO ?= cargo
PYTHON ?= python3
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
# Extra words for the demo: make demo ARGS="--out my-folder"
ARGS ?=
# Repeats the random problems of a run of the oracle: make oracle SEED=1234
SEED ?=

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test check bench bench-full peers doc size tools build fmt clippy unit venv python oracle oracle-quick pages wheel deny trust man figures trust-quick trust-build

help: ## list the verbs
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 14

demo: build ## build the program and run its built-in example
	$(TARGET_DIR)/debug/lopsided demo $(ARGS)

figures: build ## the pictures of docs/concepts.md
	$(PYTHON) docs/figures.py --program $(TARGET_DIR)/debug/lopsided

man: build ## manual pages of all commands, in target/man
	$(TARGET_DIR)/debug/lopsided man --out $(TARGET_DIR)/man

test: tools fmt clippy unit python oracle-quick doc ## formatting, lints, all tests, documentation; what CI runs

check: test oracle pages deny size trust-quick ## test, plus the whole oracle, pages in a browser, licences, the size table and five minutes of attacks

bench: peers ## lopsided beside its peers, in their own environment: a table of ratios
	.bench-venv/bin/python benchsuite/suite.py
	.bench-venv/bin/python benchsuite/products.py

bench-full: peers ## the long comparisons, the single scripts and the micro benchmarks as well
	.bench-venv/bin/python benchsuite/suite.py --full
	@for script in products triplets ask_ls krr online foundation scaling; do \
		echo "benchsuite/$$script.py"; .bench-venv/bin/python benchsuite/$$script.py </dev/null || exit 1; done
	$(CARGO) bench --workspace --locked

peers: tools
	@[ -x .bench-venv/bin/python ] || $(PYTHON) -m venv .bench-venv
	@.bench-venv/bin/pip install -q -r benchsuite/requirements.txt

trust: trust-build ## attack the program for half an hour, or MINUTES, or ONLY="kills faults": files, limits, faults, kills, interrupts
	$(TRUST_PYTHON) scripts/trust.py --program $(TARGET_DIR)/debug/lopsided --minutes $(or $(MINUTES),30) $(if $(ONLY),--only $(ONLY),--out docs/trust.md)

# With the packages of the tests, where they are: Arrow files are written by pyarrow.
TRUST_PYTHON = $(or $(wildcard .venv/bin/python),$(PYTHON))

# Five minutes of it, which write nothing.
trust-quick: trust-build
	$(TRUST_PYTHON) scripts/trust.py --program $(TARGET_DIR)/debug/lopsided --minutes 5

# The program and the test that mutates files in one process.
trust-build: build
	$(CARGO) test --workspace --locked --test readers --no-run

doc: tools ## API documentation, warnings are errors
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

size: tools ## numbers to hold: file and function lengths, traits, documentation, panics
	@$(PYTHON) scripts/size.py

# Says everything that is missing before it stops.
tools:
	@missing=0; \
	need() { command -v "$$1" >/dev/null 2>&1 || { echo "$$1 is missing: $$2" >&2; missing=1; }; }; \
	need "$(firstword $(CARGO))" "install Rust with rustup or with your system's package manager."; \
	need "$(firstword $(CC))" "install a C compiler, for example the package build-essential, gcc or clang."; \
	need "$(firstword $(PYTHON))" "install Python 3 with your system's package manager."; \
	if [ $$missing = 1 ]; then exit 2; fi

# The program alone, of the whole workspace: the same features and profile, hence the same artefacts, as the tests.
build: tools
	$(CARGO) build --locked --workspace --bin lopsided

fmt: tools
	@if $(CARGO) fmt --version >/dev/null 2>&1; then \
		echo "$(CARGO) fmt --all --check"; $(CARGO) fmt --all --check; \
	else echo "rustfmt is not installed: skipped"; fi

clippy: tools
	@if $(CARGO) clippy --version >/dev/null 2>&1; then \
		echo "$(CARGO) clippy --workspace --all-targets --locked -- -D warnings"; \
		$(CARGO) clippy --workspace --all-targets --locked -- -D warnings; \
	else echo "clippy is not installed: skipped"; fi

unit: tools
	$(CARGO) test --workspace --locked $(if $(LOPSIDED_DATA),-- --include-ignored $(if $(LOPSIDED_CARD),,--skip on_a_card))
	@if [ -z "$$LOPSIDED_DATA" ]; then echo "real-data tests: ignored, LOPSIDED_DATA is not set"; fi
	@if [ -z "$$LOPSIDED_CARD" ]; then echo "tests on an NVIDIA card: skipped, LOPSIDED_CARD is not set"; fi

# The Python package in a fresh environment, from the extension module that `unit` has built or would build.
venv: tools
	$(CARGO) test --workspace --locked --no-run
	@rm -rf .venv $(TARGET_DIR)/wheel
	@if $(PYTHON) -m venv .venv && .venv/bin/pip install -q -r python/tests/requirements.txt -r oracle/requirements.txt; then \
		module=$$(ls -t $(TARGET_DIR)/debug/{,deps/}{lib,}_core.{so,dylib,dll} 2>/dev/null | head -1); \
		.venv/bin/pip install -q --no-deps "$$($(PYTHON) python/assemble.py "$$module" $(TARGET_DIR)/wheel)"; \
	else rm -rf .venv; fi

# Runs pytest with these words, or says that it cannot.
define PYTEST
@if [ -x .venv/bin/pytest ]; then \
	echo ".venv/bin/pytest -q $(1)"; LOPSIDED_BIN=$(TARGET_DIR)/debug/lopsided .venv/bin/pytest -q $(1); \
else echo "$@: skipped, its packages cannot be installed"; fi
endef

python: unit venv
	$(call PYTEST,-rs python/tests)

oracle: venv ## all results against plain NumPy references, on random problems of a fresh seed; SEED=1234 repeats one
	$(call PYTEST,$(if $(SEED),--seed $(SEED) )oracle)

oracle-quick: venv ## the part of it that `make test` runs
	$(call PYTEST,$(if $(SEED),--seed $(SEED) )-m quick oracle)

# In an environment of its own, so that `make test` needs no browser.
pages: build ## pages of all commands in headless Chromium: errors, accessibility, phones, what a reader can do
	@[ -x .pages-venv/bin/pytest ] || { $(PYTHON) -m venv .pages-venv && .pages-venv/bin/pip install -q -r pages/requirements.txt; } \
		|| rm -rf .pages-venv
	@if [ -x .pages-venv/bin/pytest ]; then LOPSIDED_BIN=$(TARGET_DIR)/debug/lopsided .pages-venv/bin/pytest -q -rs pages; \
	else echo "pages: skipped, its packages cannot be installed"; fi

wheel: tools ## the Python package as a wheel for others, in target/wheels
	cd python && maturin build --release --locked

# Advisories need the network and are therefore not part of the check.
deny: tools
	@if $(CARGO) deny --version >/dev/null 2>&1; then \
		echo "$(CARGO) deny check bans licenses sources"; $(CARGO) deny check bans licenses sources; \
	else echo "cargo-deny is not installed: skipped"; fi

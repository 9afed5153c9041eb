# The door to everything: each target installs what it needs and is missing, then does its work.
# The work itself is CMake's (CMakePresets.json); packages come from packages/apt.txt, Python's versions from requirements*.txt.

PREFIX ?= /usr/local
PRESET ?= release
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
# The Python packages of the lab. Without them there are all libraries, oshcc and oshrun, and no `wattle`.
LAB ?= all
PINS_all := requirements.txt
PINS_core := requirements-core.txt
PINS_none :=
ifeq ($(filter $(LAB),all core none),)
$(error LAB=$(LAB): all, core (run, mpi, doctor, compare, text reports) or none)
endif
PINS := $(PINS_$(LAB))
export DEPS

.DEFAULT_GOAL := help
.PHONY: help deps runtime deps-test deps-bench deps-docs build demo demo-all test test-matrix test-rdma soak fuzz bench bench-against install packages wheel release-check dist-offline format lint docs clean distclean

help: ## Show this list
	@echo "Wattle: OpenSHMEM that spends as few joules as it can. Start with: make demo"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile
	@echo "Variables: PRESET=release|debug|asan|threads-tsan (build), FUZZ_SECONDS=$(FUZZ_SECONDS) (fuzz), PREFIX=/usr/local, DESTDIR= and COMPAT=on (install), JOBS=$(JOBS),"
	@echo "  LAB=all|core|none (Python packages of build and install), DEPS=no (without apt-get)"

deps: ## Install what building and running need: Debian packages, and pinned Python packages in .venv
	@tools/apt-deps build run
	@tools/venv requirements.txt
	@tools/figures-library

deps-test: deps
	@tools/apt-deps test
	@tools/venv requirements.txt requirements-test.txt requirements-docs.txt
	@tools/mpi-wheels

deps-bench:
	@tools/apt-deps bench

deps-docs: deps
	@tools/apt-deps docs
	@tools/venv requirements.txt requirements-docs.txt

build: ## Build the libraries, oshcc, oshrun, wattle-info and the examples into build/release
	@tools/apt-deps build run
	@$(if $(PINS),tools/venv $(PINS) || echo "build: going on without the lab: oshcc and oshrun need no Python packages")
	@$(if $(filter all,$(LAB)),tools/figures-library)
	@tools/build $(PRESET) $(JOBS)

# The same without .venv, for an installation, which has an environment of its own.
runtime:
	@tools/apt-deps build run
	@tools/build $(PRESET) $(JOBS)

demo: build ## See it work: what can be measured here, two measured programs, a small study, a report
	@tools/demo

demo-all: build ## Run every study with --quick, here and simulated: one page with all published figures beside ours
	@rm -rf demo-all
	@WATTLE_HOME="$(CURDIR)/build/release" .venv/bin/wattle reproduce --quick -o demo-all

test: deps-test ## Run every test: unit, multi-PE, Python, browser, and the sanitizer builds
	@tools/test $(JOBS)

test-matrix: ## Run demo and test on bare Debian 12 and 13, each in a folder (root, debootstrap; hours)
	@tools/test-matrix

test-rdma: deps-test ## Run tests over RDMA in a virtual machine (root, QEMU); QUICK=1: some of them
	@tools/apt-deps rdma
	@tools/build release $(JOBS) -DWTL_TESTS=ON
	@.venv/bin/python tests/rdma/suite.py $(if $(QUICK),--quick)

soak: deps-test ## Run the long tests
	@tools/apt-deps packages bare
	@tools/test-soak $(JOBS)

fuzz: deps-test ## Fuzz the parsers of files and messages, each for FUZZ_SECONDS (60)
	@tools/fuzz $(FUZZ_SECONDS)

bench: deps-bench build ## Compare with Debian's OpenSHMEM, alternating in one run, and print the ratios
	@.venv/bin/python bench/run.py $(BENCH_ARGS)

bench-against: deps-bench build ## Compare with another revision of Wattle (REV=HEAD~20): local operations, memory
	@.venv/bin/python bench/against.py "$(REV)" $(BENCH_ARGS)

install: runtime ## Install into PREFIX: headers, libraries, oshcc, oshrun, wattle, pkg-config, profiles, docs
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" COMPAT="$(COMPAT)" PINS="$(PINS)" tools/install

packages: deps ## Build Debian packages into build/packages, checked by lintian
	@tools/apt-deps packages
	@tools/packages

wheel: deps ## Build a wheel of runtime and lab into build/wheels, for machines without a compiler
	@tools/wheel

release-check: deps-docs ## Check that the tree is ready for a release: version, changelog, address, names, ABI, docs, packages, wheel (CHECKS="names abi": some)
	@tools/apt-deps packages docs
	@.venv/bin/python tools/release_check.py $(CHECKS)

dist-offline: ## Make an archive of sources and Python packages, for machines without network (PYTHONS="3.11 3.12")
	@tools/dist-offline $(PYTHONS)

format: deps-test ## Rewrite the sources in the house style
	@tools/apt-deps dev
	@tools/format

lint: deps-test ## Check style and rules; change nothing
	@tools/apt-deps dev
	@tools/format --check

docs: deps-docs build ## Build the documentation site into build/site, after docs/settings.md from the table of settings
	@.venv/bin/python tools/settings_doc.py --write
	@.venv/bin/python tools/studies_doc.py --write
	@NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --quiet --strict
	@echo "docs: open build/site/index.html"

clean: ## Remove what was built
	rm -rf build

distclean: clean ## Remove .venv and the demo's results too
	rm -rf .venv demo demo-all

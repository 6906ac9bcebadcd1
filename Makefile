# `make` sets up .venv once; every other target does so first where needed.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin

DEPENDENCIES := $(VENV)/.dependencies
# Extras of pyproject.toml for developers only.
FOR_TESTS := $(VENV)/.test
FOR_LINT := $(VENV)/.lint
FOR_DOCS := $(VENV)/.docs
BUILT := $(VENV)/.built
SANITIZED := build/sanitize
SANITIZED_TESTS := tests/core tests/game tests/hostile/test_calls.py tests/policies/test_native.py
# These tests compile the core themselves, without a sanitizer.
SANITIZED_TESTS += --ignore tests/core/test_core_rows.py \
    --deselect tests/core/test_core_threads.py::test_threads_have_no_data_races \
    --deselect tests/core/test_determinism.py::test_hashes_are_the_constants_with_every_compiler
# `make sanitize` is for one instruction set, and leaves out others that fly many fights or shots,
# which takes minutes.
SANITIZED_SETS := 1
SANITIZED_SAMPLE := -m "not slow and not nightly" \
    --deselect tests/core/test_determinism.py::test_an_engagement_does_not_depend_on_the_others \
    --deselect tests/core/test_height_fights.py::test_pilots \
    --deselect tests/policies/test_native.py::test_networks_that_share_threads_may_act_at_the_same_time \
    $(addprefix --deselect tests/core/test_ladder.py::, test_the_pilots_are_a_ladder \
    test_targets_never_win test_the_ace_beats_every_other_and_has_the_best_worst_case) \
    $(foreach case,2-3v3 2-4v4 2-5v8 3-3v3 3-4v4 3-5v8, --deselect \
    "tests/core/test_fuzz.py::test_random_fights_lose_nothing[$(case)-sample]") \
    --deselect tests/core/test_draws.py --deselect tests/game/test_envelope_height.py \
    $(addprefix --deselect tests/game/test_envelope.py::, test_a_faster_launch_reaches_farther \
    test_ranges_are_in_order_and_along_the_line_to_the_target_exactly_mirrored \
    test_a_simulation_hits_from_inside_and_misses_from_outside test_the_scan_is_fine_enough \
    test_between_the_nodes_the_map_of_a_game_is_not_far_off)
NEWEST := .venv-newest
NEWEST_BUILD := build/newest

INSTALLER := midrange_puffer/install.py
INSTALL_PACKAGE := -m pip install -q --no-build-isolation --no-deps --editable .
# Without compiled files each process of the tests would compile the package again.
unexport PYTHONDONTWRITEBYTECODE
# How many workers there are, which tests stay together and which come first is said in
# tests/conftest.py.
SIDE_BY_SIDE := -n auto --no-loadscope-reorder
NEW_EXAMPLES := --hypothesis-profile=new_examples
C_FILES := $(wildcard csrc/*.[ch] csrc/*/*.[ch] tests/support/*.c web/*.c)
SOURCES := $(wildcard csrc/*.[ch] csrc/*/*.[ch] midrange_puffer/*.pyx midrange_puffer/*.px[di])

.DEFAULT_GOAL := setup
.PHONY: setup dev install train sweep test test-all check fresh newest lint format bench web ship-web docs sanitize sanitize-all hostile portability clean help

setup: $(BUILT) ## make .venv, for all that users need (the default; free when nothing changed)

dev: setup $(FOR_TESTS) $(FOR_LINT) $(FOR_DOCS) ## add what developers need: tests, linters, the site

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.version_info[:2] == (3, 11) or sys.exit( \
	    f"PYTHON={sys.executable} is Python {sys.version.split()[0]}; .venv is made with Python 3.11")'
	$(PYTHON) -m venv $(VENV)

$(DEPENDENCIES): midrange_puffer/constraints.txt pyproject.toml $(INSTALLER) midrange_puffer/pufferlib_build.py | $(BIN)/python
	$(BIN)/python $(INSTALLER) all
	@touch $@

$(FOR_TESTS) $(FOR_LINT) $(FOR_DOCS): $(DEPENDENCIES)
	$(BIN)/python $(INSTALLER) $(@:$(VENV)/.%=%)
	@touch $@

# After PufferLib, so that the console script `puffer` is ours.
$(BUILT): $(DEPENDENCIES) setup.py $(SOURCES)
	$(BIN)/python $(INSTALL_PACKAGE)
	@touch $@

install: ## install into your own environment, keeping its torch: make install PYTHON=/path/to/python
	$(PYTHON) $(INSTALLER) --keep-torch
	$(PYTHON) $(INSTALL_PACKAGE)

train: setup ## train with the default config: make train ARGS="--section.key value"
	$(BIN)/puffer train midrange --config configs/default.ini $(ARGS)

sweep: setup ## search better settings: make sweep ARGS="--sweep.workers 4"
	$(BIN)/puffer sweep midrange --config configs/sweep.ini $(ARGS)

test: setup $(FOR_TESTS) ## run the tests, side by side on all cores: make test ARGS="-k name"
	$(BIN)/pytest $(SIDE_BY_SIDE) -m "not nightly" $(ARGS)

test-all: setup $(FOR_TESTS) ## run the tests and the nightly ones: run it before a release
	$(BIN)/pytest $(SIDE_BY_SIDE) $(NEW_EXAMPLES) $(ARGS)

check: setup lint $(FOR_TESTS) ## lint, and the tests that are not slow: two minutes on two cores
	$(BIN)/pytest $(SIDE_BY_SIDE) -m "not slow and not nightly" $(ARGS)

fresh: ## train and test in a clone of HEAD as on a machine that is new: make fresh TARGETS="lint test"
	$(PYTHON) tools/fresh.py $(TARGETS)

# Beside the pins that PufferLib needs, in an environment of its own, without PufferLib and torch.
newest: ## test what needs neither PufferLib nor torch with the newest Gymnasium, PettingZoo, numpy …
	$(PYTHON) -m venv $(NEWEST)
	$(NEWEST)/bin/python -m pip install -q --upgrade cython gymnasium hypothesis numpy pettingzoo \
	    platformdirs pygame-ce pytest pytest-timeout setuptools
	rm -rf $(NEWEST_BUILD)
	$(NEWEST)/bin/python setup.py -q build \
	    --build-base $(NEWEST_BUILD) --build-lib $(NEWEST_BUILD)/lib
	$(NEWEST)/bin/python -m pip list
	PYTHONPATH="$(abspath $(NEWEST_BUILD))/lib" $(NEWEST)/bin/pytest \
	    tests/envs/test_contract.py tests/envs/test_gym_*.py tests/envs/test_pettingzoo.py \
	    tests/envs/test_start_options.py $(ARGS)

lint: $(FOR_LINT) ## check Python with ruff and pyright, C with clang-format and every compiler
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright
	$(BIN)/clang-format --dry-run --Werror $(C_FILES)
	$(BIN)/python setup.py -q lint_core

format: $(FOR_LINT) ## format the Python and C code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(C_FILES)

bench: setup ## measure the environment alone, then its share of training
	$(BIN)/python benchmarks/sps.py
	$(BIN)/python benchmarks/train_sps.py

web: setup ## build the game as one page for any browser, web/midrange.html
	$(BIN)/python tools/web.py

ship-web: setup ## build that page and ship it with the package, for puffer play midrange --browser
	$(BIN)/python tools/web.py --ship

docs: setup $(FOR_DOCS) ## build the site, build/site/index.html; a link that leads nowhere is an error
	-$(BIN)/python tools/web.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "build/site/index.html"

# A second build beside the normal one. torch throws C++ exceptions, so libstdc++ must be there when
# ASan starts; Python never frees everything, so leaks are not looked for; a sanitizer's report goes
# to the terminal only if pytest leaves file descriptor 2 alone.
sanitize: setup $(FOR_TESTS) ## test core, learner and bindings built with address and undefined-behaviour sanitizers
	rm -rf $(SANITIZED)
	CC=gcc MIDRANGE_SANITIZE=$(SANITIZED_SETS) $(BIN)/python setup.py -q build \
	    --build-base $(SANITIZED) --build-lib $(SANITIZED)/lib
	export PYTHONPATH="$(abspath $(SANITIZED))/lib" \
	    MIDRANGE_TESTED_SETS="$(if $(filter 1,$(SANITIZED_SETS)),sse2)" \
	    ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	    LD_PRELOAD="$(foreach lib,asan ubsan stdc++,$$(gcc -print-file-name=lib$(lib).so))"; \
	$(BIN)/python -P -c 'import midrange_puffer._core as core; \
	    assert "/$(SANITIZED)/" in core.__file__, core.__file__' && \
	$(BIN)/pytest $(SIDE_BY_SIDE) $(SANITIZED_SAMPLE) --capture=sys $(SANITIZED_TESTS) $(ARGS)

sanitize-all: ## the same with the slow and the nightly tests, such as random fights: run it before a release
	$(MAKE) sanitize SANITIZED_SAMPLE=$(NEW_EXAMPLES) SANITIZED_SETS=all

hostile: setup ## attack it for twenty minutes: make hostile ARGS="--minutes 5 --seed 2 files"
	PYTHONPATH="$(abspath tools)" $(BIN)/python -W "ignore:The pynvml package:FutureWarning" -m hostile $(ARGS)

portability: setup $(FOR_TESTS) ## run the C code as other machines do, by emulators: make portability ARGS="--machines aarch64"
	$(BIN)/python -u tools/portability.py $(ARGS)

clean: ## remove what was built and cached; the environments and experiments stay
	rm -rf build dist *.egg-info .pytest_cache .ruff_cache .hypothesis $(BUILT)
	rm -f midrange_puffer/_core.c midrange_puffer/_learner.c midrange_puffer/_threads.c midrange_puffer/*.so

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

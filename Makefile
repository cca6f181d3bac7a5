# SPDX-License-Identifier: Apache-2.0
# `make demo` and `make test` work on a fresh machine: tools/setup.sh installs what is missing.
JOBS ?= $(shell nproc)
BUILD := build/release
CMAKE_FLAGS ?=

.PHONY: all configure build demo test bench lint format docs clean
.NOTPARALLEL:

all: build

configure:
	tools/setup.sh build
	cmake --preset release $(CMAKE_FLAGS)

build: configure
	cmake --build --preset release --parallel $(JOBS)

demo: configure
	cmake --build --preset release --parallel $(JOBS) --target cugraft_cli cugraft_sim
	$(BUILD)/bin/cugraft demo

test:
	tools/setup.sh build test
	cmake --preset release $(CMAKE_FLAGS)
	cmake --build --preset release --parallel $(JOBS)
	ctest --preset release --parallel $(JOBS)

bench:
	tools/setup.sh build bench
	cmake --preset release -DCUGRAFT_BUILD_BENCH=ON $(CMAKE_FLAGS)
	cmake --build --preset release --parallel $(JOBS) --target cugraft_bench cugraft_sim
	$(BUILD)/bin/cugraft_bench

lint:
	tools/setup.sh build lint
	tools/lint.sh

format:
	tools/setup.sh lint
	tools/lint.sh reformat

docs:
	tools/setup.sh docs
	tools/docs.sh build/docs

clean:
	rm -rf build

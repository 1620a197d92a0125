PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: install demo test browser check bench peers results docs clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[all,dev]"
	touch $@

demo: $(STAMP)
	$(BIN)/unfooled assets get mr wordnet tagger stopwords glove-50
	test -f models/bilstm-mr/config.json || $(BIN)/unfooled train bilstm mr --out models/bilstm-mr
	$(BIN)/unfooled attack greedy models/bilstm-mr mr --limit 100 --out runs/demo-greedy --show 5
	$(BIN)/unfooled audit models/bilstm-mr mr --limit 100 --attacks pdp,greedy --out runs/demo

test: $(STAMP) browser
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

# Pages are tested in a real browser where there is one, or where root can install Debian's.
browser:
	@command -v chromium >/dev/null || test "$$(id -u)" != 0 || ! command -v apt-get >/dev/null \
	  || (apt-get update -qq && apt-get install -y -qq chromium >/dev/null) \
	  || echo "chromium could not be installed: the tests of pages will be skipped"

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python -m benchmarks $(NAME)

# Peers in environments of their own: TextAttack for `python -m benchmarks.peers` and the benchmark `attacks`,
# auto_LiRPA and bound_propagation for `python -m benchmarks.bounds_peer`.
peers: $(STAMP)
	$(BIN)/python -m benchmarks.peers.install
	$(BIN)/python -m benchmarks.bounds_peer.install

# The papers' experiments: NAME=quantify, attacks or exact. Takes hours; a killed call goes on where it was.
results: $(STAMP)
	$(BIN)/python -m results.$(NAME)

docs: $(STAMP)
	$(BIN)/sphinx-build -W -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

clean:
	rm -rf .venv .venv-peers .venv-bounds docs/_build

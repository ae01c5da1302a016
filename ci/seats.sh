#!/usr/bin/env bash
# Searches seats in the sizes that are too large for the tests. Not yet run as a whole; some will end at their limits.
# The last results are in crates/doorway-lab/records.
set -euo pipefail
cd "$(dirname "$0")/.."

rustc --version
cargo build --quiet --release -p doorway-cli
check() {
    echo
    echo "doorway check seats $*"
    # A search that ends at its limit says so, and the others go on.
    target/release/doorway check seats "$@" || true
}
safety=(--property k-exclusion --property never-stuck --property unique-names --property P1 --property P4)
deaths=("${safety[@]}" --property P2 --property P3)

# Nobody dies, two passages: more than 91 million states.
check --n 3 --k 2 --passages 2 "${safety[@]}" --max-memory 12G
# One death, and a process that takes the seat.
check --n 2 --k 1 --passages 2 --crashes 1 --restarts 1 --give-ups --max-memory 3G
check --n 3 --k 1 --crashes 1 --restarts 1 --max-memory 6G
check --n 3 --k 2 --crashes 1 --restarts 1 --max-memory 6G
# Two deaths.
check --n 3 --k 1 --crashes 2 --max-memory 3G
check --n 3 --k 2 --crashes 2 --max-memory 3G
check --n 2 --k 1 --passages 2 --crashes 2 --restarts 2 "${deaths[@]}" --max-memory 6G
check --n 3 --k 2 --crashes 2 --restarts 2 "${deaths[@]}" --max-memory 12G
# Deaths that are noticed late.
check --n 3 --k 1 --crashes 1 --late-deaths --max-memory 3G
check --n 3 --k 2 --crashes 1 --late-deaths --max-memory 3G
# Bounded: two passages of three processes, with a death and a restart.
check --n 3 --k 2 --passages 2 --crashes 1 --restarts 1 "${deaths[@]}" --max-memory 6G

#!/usr/bin/env bash
# Searches seats in the sizes that are too large for the tests. The last results are in
# crates/doorway-lab/records, and beside each search here. Some searches end at their limits, and
# say so.
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
order=(--property first-in-first-enabled)

# No process dies. Two passages: 7,748,346 states, complete. Any number of passages: 4,492,631
# states, complete.
check --alike --n 3 --k 2 --passages 2 "${safety[@]}" --max-memory 3G
check --alike --n 3 --k 2 --passages unbounded "${safety[@]}" --max-memory 3G
# Any number of passages, with the order of arrival: 579,728 and 481,966 states, complete.
check --alike --n 3 --k 1 --passages unbounded --give-ups "${safety[@]}" "${order[@]}" --property deadlock-free --max-memory 3G
check --alike --n 2 --k 1 --passages unbounded --crashes 2 --restarts 2 --give-ups "${deaths[@]}" "${order[@]}" --property deadlock-free --max-memory 3G
# Any number of passages, and one death: 743,013 and 15,140,283 states, complete.
check --alike --n 3 --k 1 --passages unbounded --crashes 1 --no-suspects "${deaths[@]}" --max-memory 3G
check --alike --n 3 --k 2 --passages unbounded --crashes 1 --no-suspects "${deaths[@]}" --max-memory 3G
# The order of arrival if waiters give up and come back: 37,257,713 states, complete.
check --n 3 --k 1 --passages 2 --give-ups --property k-exclusion --property never-stuck --property P1 --property P4 "${order[@]}" --max-memory 4G
# One death, and a new process that takes the seat: 1,758,739 states. Three processes: 22,402,420
# and 46,636,738 states, complete.
check --n 2 --k 1 --passages 2 --crashes 1 --restarts 1 --give-ups --max-memory 3G
check --n 3 --k 1 --crashes 1 --restarts 1 --no-suspects "${deaths[@]}" --max-memory 6G
check --n 3 --k 2 --crashes 1 --restarts 1 --no-suspects "${deaths[@]}" --max-memory 6G
# Two deaths: 495,128 and 327,979 states, complete.
check --n 3 --k 1 --crashes 2 --no-suspects --max-memory 3G
check --n 3 --k 2 --crashes 2 --no-suspects --max-memory 3G
# Two deaths and one restart: 24,376,782 states, complete. Two deaths and two restarts: 362,336,743
# states, complete, in 24 minutes of processor time and 9 GiB.
check --alike --n 3 --k 2 --crashes 2 --restarts 1 --no-suspects "${deaths[@]}" --max-memory 6G
check --alike --n 3 --k 2 --crashes 2 --restarts 2 --no-suspects "${deaths[@]}" --max-memory 12G
# Deaths that are noticed late: 679,651 states, complete.
check --n 3 --k 2 --crashes 1 --late-deaths --no-suspects --max-memory 3G
# Not complete: two passages of three processes, or any number, with a death and a restart. In 10
# minutes the searches saw 42,953,627 and 26,608,089 states, and found nothing.
check --alike --n 3 --k 2 --passages 2 --crashes 1 --restarts 1 --no-suspects "${deaths[@]}" --max-memory 12G
check --alike --n 3 --k 2 --passages unbounded --crashes 1 --restarts 1 --no-suspects "${deaths[@]}" --max-memory 12G

# Newcomers may pass: 1,289,141 and 15,866,594 states, complete. With deaths: 406,182 states,
# complete.
check_bypass() {
    echo
    echo "doorway check seats-bypass $*"
    target/release/doorway check seats-bypass "$@" || true
}
check_bypass --alike --n 3 --k 1 --passages unbounded --give-ups --max-memory 3G
check_bypass --alike --n 3 --k 2 --passages unbounded --max-memory 6G
check_bypass --alike --n 2 --k 1 --passages unbounded --crashes 2 --restarts 2 --no-suspects --max-memory 3G

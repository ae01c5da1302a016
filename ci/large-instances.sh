#!/usr/bin/env bash
# Explores instances that are too large for the test suite, with every claim of every algorithm.
# Measures the theorems. Samples instances that are too large to search. Takes a good hour and 8
# GiB. The last results are in crates/doorway-lab/records.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --quiet

# Exit codes 1 and 3 are results: a mutant fails, and a search that leaves runs out (--lag,
# --switches) or an adversary decides nothing. Bad usage is not a result.
doorway() {
    local code=0
    ./target/release/doorway "$@" || code=$?
    [ $code -le 1 ] || [ $code -eq 3 ]
}
check() {
    echo "\$ doorway check $*"
    doorway check "$@" | grep -E 'FAILS|not decided|nothing found|states,|with all names'
}
check bakery --n 3 --passages 3
check bakery --n 3 --passages 4
check bakery --n 4 --passages 1
# Mutual exclusion: Yang and Anderson's mutexes, and those that they measure against.
check ya-tree --n 4 --passages 1
check ya-fast --n 3 --passages 1
check peterson-tree --n 6
check kessels-tree --n 5
check mcs --n 5
check mcs-swap --n 5
check lamport-fast --n 5
check ticket --n 8
check anderson-array --n 7
check tas-backoff --n 5
# Rooms.
check rooms --n 3 --rooms 3
check rooms --n 3 --rooms 2 --give-ups
check rooms-change --n 3 --rooms 2
check rooms-late-join --n 3 --rooms 2
check room-dynamic-stack --n 2 --slots 4
# Resilient objects.
check universal --passages 3 --crashes 2
check universal --n 3 --passages 1 --crashes 3
check universal --passages 4
check universal-in-use --passages 3
check resilient --n 3 --k 2 --crashes 1
check resilient-am --n 3 --k 2 --crashes 1
check am-chain --n 4 --k 1
check am-chain --n 5 --k 3
check am-chain --n 6 --k 5
check am-chain --n 7 --k 6
check am-queue --n 6 --k 3
check am-tree --n 4 --k 1
check am-fast --n 4 --k 1 --passages 1
check am-fast --n 4 --k 3
check am-graceful --n 4 --k 1 --passages 1
check am-dsm-unbounded --n 2 --k 1 --passages 4
check am-dsm-unbounded --n 3 --k 2 --passages 3
check am-dsm-chain --n 3 --k 2
check am-dsm-chain --n 3 --k 1 --passages 1
check am-dsm-tree --n 3 --k 1 --passages 2
check am-dsm-fast --n 2 --k 1
check am-dsm-fast --n 3 --k 1 --passages 1
check am-dsm-graceful --n 3 --k 1 --passages 1
check am-assign --n 4 --k 3
check am-dsm-assign --n 3 --k 2 --passages 1
# The turnstile: the front is at most one ticket behind while no process waits, except where the
# search fits without this bound.
check turnstile --n 4 --k 2 --crashes 1 --lag 1
check turnstile --n 4 --k 3 --crashes 2 --lag 1
check turnstile --n 3 --k 1 --give-ups
check turnstile --n 3 --k 2 --crashes 1 --give-ups --line 1 --lag 1
check turnstile-many --n 3 --k 2 --crashes 1 --lag 1
check turnstile-slots --n 4 --k 2 --lag 1
# Dolev, Gafni and Shavit: both ways to write a fork down are one state.
check dgs-unfair --n 3 --k 1 --alike
check dgs-unfair --n 3 --k 2 --alike
# Properties that need the whole graph would not fit here.
check dgs-unfair --n 3 --k 2 --crashes 1 --alike --property k-exclusion --property never-stuck --property CL5
check dgs-unfair --n 3 --k 1 --registers safe --alike --property k-exclusion --property never-stuck --property CL5
check dgs-unfair --n 3 --k 2 --registers safe --alike --property k-exclusion --property never-stuck --property CL5
check dgs-unfair --n 3 --k 2 --registers safe --crashes 1 --alike --property k-exclusion --property never-stuck --property CL5
check dgs --n 3 --k 2 --passages 1 --alike --property k-exclusion --property never-stuck --property CL5
check dgs --n 3 --k 2 --passages 1 --registers safe --crashes 1 --alike --property k-exclusion --property never-stuck --property CL5
check dgs --n 3 --k 1 --passages 1 --alike
check dgs --n 3 --k 2 --passages 1 --alike
check turnstile --n 4 --k 2 --crashes 1 --give-ups --line 1 --lag 1 --property k-exclusion --property never-stuck --property T1
check am-fast --n 4 --k 2 --property k-exclusion --property never-stuck --property I2 --property F1
check am-tree --n 5 --k 2 --property k-exclusion --property never-stuck --property I2
check am-dsm-tree --n 3 --k 1 --passages unbounded --property k-exclusion --property never-stuck
# The k-Bakery. The mutant is Figure 3 as printed, where only tickets are torn. It fails.
check kbakery --n 3 --k 2 --passages 2
check kbakery --n 4 --k 2 --passages 1 --property k-exclusion --property never-stuck --property L3
check kbakery-fife --n 3 --k 2 --passages 2
check kbakery-fife --n 3 --k 2 --passages 2 --crashes 1
check kbakery-nonatomic --registers safe --n 2 --k 1 --passages 4
check kbakery-nonatomic --registers safe --n 3 --k 2 --passages 1
check kbakery-nonatomic --registers regular --n 3 --k 1 --passages 2 --property k-exclusion
check mutant:kbakery-nonatomic-as-printed-with-only-tickets-torn --property k-exclusion --switches 5
check kbakery-nonatomic --registers safe --n 3 --k 1 --passages 2 --property k-exclusion --switches 4
# 535 million states: 13.3 GiB and a quarter of an hour.
check kbakery-nonatomic --registers safe --n 3 --k 1 --passages 2 --property k-exclusion --max-memory 15G
# Figure 6 with less than it has. The other two controls differ from it only in more passages.
check mutant:am-dsm-chain-without-18-19-and-21 --n 4 --k 3 --passages 2 --property k-exclusion --property never-stuck --symmetric
echo "with crashes; progress beside the plain search; cost:"
check am-chain --n 5 --k 3 --crashes 1 --property k-exclusion
check am-chain --n 5 --k 3 --crashes 1 --property starvation-free
check am-chain --n 4 --k 2 --crashes 1
check am-fast --n 3 --k 2 --crashes 1
check am-queue --n 5 --k 3 --crashes 2
check am-dsm-chain --n 3 --k 2 --crashes 1 --passages 2
check am-dsm-fast --n 3 --k 2 --crashes 1 --passages 1
check am-assign --n 4 --k 3 --crashes 2 --passages 1
check am-dsm-assign --n 3 --k 2 --crashes 1 --passages 1
for model in cc cc-wb; do
    echo "\$ doorway rmr am-chain --n 4 --k 1 --model $model"
    doorway rmr am-chain --n 4 --k 1 --model $model | grep -E 'claimed|worst|states,'
done
for n in 64 256 1024; do
    echo "\$ doorway rmr am-chain --n $n --k 4 --method adversary"
    doorway rmr am-chain --n $n --k 4 --method adversary | grep -E 'claimed|worst|adversary:'
done
for n in 4 64 1024 4096; do
    echo "\$ doorway rmr turnstile --n $n --k 4 --method adversary"
    doorway rmr turnstile --n $n --k 4 --method adversary | grep -E 'claimed|worst|adversary:'
done
echo "without keep:"
check am-chain --n 3 --k 1 --no-keep
check bakery --n 4 --passages 1 --no-keep
echo "keep cross-checked:"
check am-chain --n 4 --k 2 --cross-check
check am-fast --n 3 --k 1 --cross-check
check bakery --n 4 --passages 1 --cross-check
check am-dsm-chain --n 3 --k 2 --passages 2 --cross-check
echo "samples, which prove nothing, of sizes beyond search:"
sample() {
    echo "\$ doorway check $*"
    doorway check "$@" | grep -E 'FAILS|in all|probability' || true
}
for id in am-queue am-chain am-tree am-fast am-graceful am-dsm-chain am-dsm-tree am-dsm-fast am-dsm-graceful am-assign am-dsm-assign; do
    sample $id --n 7 --k 3 --method random --runs 500 --length 4000
    sample $id --n 7 --k 3 --method random --runs 500 --length 4000 --crashes 2
    sample $id --n 6 --k 2 --method pct --runs 500 --length 2000
done
echo "\$ doorway rmr --theorems"
./target/release/doorway rmr --theorems

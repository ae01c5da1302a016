#!/usr/bin/env bash
# Measures the generic text beside hand-written code. Takes a minute. Needs a quiet machine, and
# says so if it is not. If valgrind is installed, it also counts instructions.
# The last results are in crates/doorway-lab/records.
set -euo pipefail
cd "$(dirname "$0")/.."

grep -m1 'model name' /proc/cpuinfo || true
rustc --version
cargo bench --quiet -p doorway-lab --bench generic
if command -v valgrind > /dev/null; then
    echo
    echo "instructions for 100,000 passages of (8,4), start of the program included"
    bench=$(cargo bench --quiet -p doorway-lab --bench generic --no-run --message-format=json |
        grep -o '"executable":"[^"]*generic[^"]*"' | tail -n 1 | cut -d '"' -f 4)
    for side in by-hand generic; do
        printf '%-8s ' "$side"
        valgrind --tool=callgrind --callgrind-out-file=/dev/null "$bench" --count "$side" 2>&1 | grep Collected
    done
fi

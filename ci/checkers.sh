#!/usr/bin/env bash
# Measures the explorer beside Stateright, Spin, loom and shuttle. Takes seven minutes on a quiet
# machine, and says so if it is not quiet. Needs gcc and Debian's package `spin`, which it installs
# if it may. Options go to the benchmark: --quick, --json.
# The last results are in crates/doorway-lab/records.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
command -v spin > /dev/null || missing+=(spin)
command -v gcc > /dev/null || missing+=(gcc libc6-dev)
if [ "${#missing[@]}" != 0 ]; then
    echo "installing: apt-get install -y ${missing[*]}" >&2
    apt-get install -y "${missing[@]}" >&2
fi

cargo build --quiet --release -p doorway-lab
grep -m1 'model name' /proc/cpuinfo || true
rustc --version
cargo run --quiet --release -p doorway-lab -- bench checkers "$@"

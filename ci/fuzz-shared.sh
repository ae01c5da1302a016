#!/usr/bin/env bash
# Damages files of slots between processes. The first argument is the number of cases, 10,500,000 by
# default; the second is the seed. Each case may end only with an error. Takes a quarter of an hour.
set -euo pipefail
cd "$(dirname "$0")/.."
export DOORWAY_FUZZ_CASES=${1:-10500000} DOORWAY_FUZZ_SEED=${2:-1}
cargo test --release -p doorway --test shared_fuzz -- --nocapture --test-threads=2

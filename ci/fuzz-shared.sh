#!/usr/bin/env bash
# Damages files of slots between processes in ten million ways, or as many as the first argument
# says. The second is the seed. Nothing but errors may come of it. A quarter of an hour.
set -euo pipefail
cd "$(dirname "$0")/.."
export DOORWAY_FUZZ_CASES=${1:-10500000} DOORWAY_FUZZ_SEED=${2:-1}
cargo test --release -p doorway --test shared_fuzz -- --nocapture --test-threads=2

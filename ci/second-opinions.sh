#!/usr/bin/env bash
# What loom, shuttle and Stateright say of the papers' texts. Three minutes on two cores. The last result is in
# crates/doorway-lab/records.
set -euo pipefail
cd "$(dirname "$0")/.."
rustc --version
cargo test -p doorway-opinions --features all-texts "$@"

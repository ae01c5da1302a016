#!/usr/bin/env bash
# Asks loom, shuttle and Stateright about the papers' texts. Takes three minutes on two cores. The
# last result is in crates/doorway-lab/records.
set -euo pipefail
cd "$(dirname "$0")/.."
rustc --version
cargo test -p doorway-opinions --features all-texts "$@"

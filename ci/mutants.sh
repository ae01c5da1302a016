#!/usr/bin/env bash
# Mutates the checker's own code about properties and progress, and sees whether its tests notice (cargo-mutants, which it installs). An hour.
# The last results are in crates/doorway-lab/records.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v cargo-mutants > /dev/null || cargo install cargo-mutants --locked

# Waits that were mutated hang; the limit ends them.
cargo mutants -p doorway-check --timeout 60 --no-shuffle "$@" \
    -f '**/property/mod.rs' -f '**/property/view.rs' -f '**/explore/progress.rs' \
    -- --test checker -- engine:: progress:: mutants::

#!/usr/bin/env bash
# Mutates the checker's own code about properties and progress, and shows whether its tests notice.
# Uses cargo-mutants, and installs it if it is missing. Takes an hour. The last results are in
# crates/doorway-lab/records.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v cargo-mutants > /dev/null || cargo install cargo-mutants --locked

# A mutated wait may hang; the time limit ends it.
cargo mutants -p doorway-check --timeout 60 --no-shuffle "$@" \
    -f '**/property/mod.rs' -f '**/property/view.rs' -f '**/explore/progress.rs' \
    -- --test checker -- engine:: progress:: mutants::

#!/usr/bin/env bash
# Runs the tests that are too long for `cargo test`, and prints what they find. Takes a few minutes
# and 4 GiB.
# The last results are in crates/doorway-lab/records.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo test --release -p doorway-core --test texts -- --ignored --test-threads 1 --nocapture "$@"
cargo test --release -p doorway-check --test checker -- --ignored --test-threads 1 --nocapture "$@"
cargo test --release -p doorway-opinions -- --ignored --test-threads 1 --nocapture "$@"
cargo test --release -p doorway-lab -- --ignored --test-threads 1 --nocapture "$@"

#!/usr/bin/env bash
# Kills processes that share slots. The first argument is the number of kills, 220,000 by default;
# the second is the seed. Exit code 0 if no slot was given twice or lost, and every death was
# reported once and correctly. Takes ten minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo run --release -p doorway-cli -- torture --kills "${1:-220000}" --seed "${2:-1}"

#!/usr/bin/env bash
# Kills more than 200,000 processes that share slots, or as many as the first argument says. The
# second is the
# seed. Exit code 0 if no slot was given twice or lost, and every death was told once and rightly.
# Ten minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo run --release -p doorway-cli -- torture --kills "${1:-220000}" --seed "${2:-1}"

#!/usr/bin/env bash
# Runs `doorway run` many times, and kills wrappers, sweepers, guardians and commands at random. The
# first argument is the number of runs, 10,000 by default; the second is the seed. Exit code 0 if no
# slot was given twice, all are free at the end, and no process is left behind. Takes five minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
export DOORWAY_RUN_TORTURE="${1:-10000}" DOORWAY_RUN_SEED="${2:-1}"
cargo test -p doorway-cli --test run_torture -- --nocapture

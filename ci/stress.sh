#!/usr/bin/env bash
# Threads and tasks in a crowd at native slots, a fifth of which give up half-way, for ten minutes or as many seconds as the first argument says. The second is the first seed.
# Says how many passages there were; if somebody hangs, it says after a minute what the slots looked like.
set -euo pipefail
cd "$(dirname "$0")/.."
export DOORWAY_STRESS_SECONDS=${1:-600} DOORWAY_STRESS_SEED=${2:-1}
cargo test --release -p doorway --test slots_stress -- --nocapture
# A million in line, and as many as the line can have; ten million that give up.
cargo test --release -p doorway --test slots -- --ignored --nocapture
DOORWAY_GIVE_UPS=10000000 cargo test --release -p doorway --test slots_memory -- --nocapture

#!/usr/bin/env bash
# Crowds native slots with threads and tasks; a fifth of them give up half-way. The first argument
# is the duration in seconds, 600 by default; the second is the first seed. Prints the number of
# passages. If a thread or a task hangs, prints after a minute what the slots looked like.
set -euo pipefail
cd "$(dirname "$0")/.."
export DOORWAY_STRESS_SECONDS=${1:-600} DOORWAY_STRESS_SEED=${2:-1}
cargo test --release -p doorway --test slots_stress -- --nocapture
# A million callers in line; then a full line; then ten million callers that give up.
cargo test --release -p doorway --test slots -- --ignored --nocapture
DOORWAY_GIVE_UPS=10000000 cargo test --release -p doorway --test slots_memory -- --nocapture

#!/usr/bin/env bash
# Queues and stacks in rooms, and resilient objects, under valgrind: is all memory given back, and is nothing read that was not written? A minute. Says so and ends well if valgrind is not there.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v valgrind > /dev/null || { echo "valgrind is not installed: nothing was looked at"; exit 0; }
cargo build --release -p doorway --examples
examples=${CARGO_TARGET_DIR:-target}/release/examples
# What is only possibly lost is the standard library's own handle of the main thread.
check() {
    valgrind --quiet --leak-check=full --show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite,indirect --error-exitcode=1 --fair-sched=yes "$examples/$1" "${@:2}"
}
check rooms_leaks
check rooms_collector 2000 2
check rooms_rw_lock
check resilient_leaks
check resilient_service
for example in rooms_leaks resilient_leaks; do
    if check "$example" forget 2> /dev/null; then
        echo "something was forgotten on purpose, and valgrind did not notice" >&2
        exit 1
    fi
done
echo "nothing was lost, and nothing was read that was not written"

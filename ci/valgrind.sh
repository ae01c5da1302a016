#!/usr/bin/env bash
# Runs queues and stacks in rooms, and resilient objects, under valgrind: is all memory given back,
# and is nothing read before it is written? Takes a minute. If valgrind is missing, says so and
# exits with 0.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v valgrind > /dev/null || { echo "valgrind is not installed: nothing was looked at"; exit 0; }
cargo build --release -p doorway --examples
examples=${CARGO_TARGET_DIR:-target}/release/examples
# The only block that is possibly lost is the standard library's handle of the main thread.
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

#!/usr/bin/env bash
# Runs the tests of native memory under ThreadSanitizer: does each access happen before the accesses
# that see it? Takes a few minutes, on a nightly compiler. The last results are in
# crates/doorway-lab/records.
set -euo pipefail
cd "$(dirname "$0")/.."
target=x86_64-unknown-linux-gnu
rustc +nightly --version || { echo "needs a nightly compiler: rustup toolchain install nightly --component rust-src" >&2; exit 1; }
export RUSTFLAGS="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer"
# Naming the target makes cargo compile build scripts and macros without the sanitizer. The examples
# in the documentation are left out: they have no threads.
test=(cargo +nightly test -p doorway --target "$target")

if [[ -e "$(rustc +nightly --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock" ]]; then
    # This compiles the standard library for the sanitizer too, so nothing has to be suppressed.
    exec "${test[@]}" --tests -Zbuild-std "$@"
fi

# Without its source, the standard library is linked without instruments. The sanitizer then does
# not see how it synchronises, and reports races where there are none. Threads that end with their
# scope, and are not joined one by one, seem never to have ended; everything after them seems to
# race with them. So only tests that join their threads run, and only these reports are suppressed:
echo "no source of the standard library (rustup component add rust-src --toolchain nightly): only the conformance tests"
suppressions=$(mktemp)
trap 'rm -f "$suppressions"' EXIT
cat > "$suppressions" << 'END'
# The test harness learns through a channel which tests are done.
race:std::sync::mpmc
race:test::run_test
# The last `Arc` frees what other threads used before they dropped theirs. A fence orders that,
# which the sanitizer does not know. (A standard library that is compiled for it has a load there.)
race:alloc::sync::Arc*drop
# The sanitizer does not see that a contended `Mutex` is taken. The table of waiters keeps its data
# in mutexes, and no other way leads to them: the crate forbids unsafe code.
race:doorway::waiting::table::
# Nor does it see that a `LazyLock` is ready.
race:doorway::waiting::policy::Patience*is_over
END
export TSAN_OPTIONS="suppressions=$suppressions ${TSAN_OPTIONS:-}"
"${test[@]}" --test conformance "$@"

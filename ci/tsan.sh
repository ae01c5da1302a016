#!/usr/bin/env bash
# The tests of native memory under ThreadSanitizer: does what one process did happen before what another sees of it? A few minutes, on a nightly
# compiler. The last results are in crates/doorway-lab/records.
set -euo pipefail
cd "$(dirname "$0")/.."
target=x86_64-unknown-linux-gnu
rustc +nightly --version || { echo "needs a nightly compiler: rustup toolchain install nightly --component rust-src" >&2; exit 1; }
export RUSTFLAGS="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer"
# The target is named so that build scripts and macros are compiled without the sanitizer. Not the examples in the documentation: they have no threads.
test=(cargo +nightly test -p doorway --target "$target")

if [[ -e "$(rustc +nightly --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock" ]]; then
    # The standard library is compiled for the sanitizer too, and there is nothing to suppress.
    exec "${test[@]}" --tests -Zbuild-std "$@"
fi

# Without its source the standard library is linked as it comes, without instruments: what it synchronises out of sight is not seen, and is reported as
# races where there are none. Threads that are not joined one by one but by the end of their scope seem never to have ended, and everything that comes after
# seems to race with them; so only those tests run that join, and of what they do only this is suppressed:
echo "no source of the standard library (rustup component add rust-src --toolchain nightly): only the conformance tests"
suppressions=$(mktemp)
trap 'rm -f "$suppressions"' EXIT
cat > "$suppressions" << 'END'
# The test harness hears through a channel which tests are done.
race:std::sync::mpmc
race:test::run_test
# The last `Arc` frees what others used before they let go: in order by a fence, which the sanitizer does not know. (A standard library that is
# compiled for it has a load there.)
race:alloc::sync::Arc*drop
# A contended `Mutex` is taken out of sight. What the table of waiters keeps in mutexes cannot be reached in any other way: the crate forbids unsafe code.
race:doorway::waiting::table::
# Nor is it seen that a `LazyLock` is ready.
race:doorway::waiting::policy::Patience*is_over
END
export TSAN_OPTIONS="suppressions=$suppressions ${TSAN_OPTIONS:-}"
"${test[@]}" --test conformance "$@"

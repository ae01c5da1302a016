#!/usr/bin/env bash
# Slots between machines: searches the text, builds the crate, and tests it with a real etcd, one
# member and three. Nothing else needs what this needs: etcd, and protoc for its client. Where they
# are missing, it unpacks Debian's packages under target/, without root.
#
# The tests that cut a member off, and that start a client on a machine of another age, need root,
# for namespaces; without, they say so.
#
# Last result, with etcd 3.4.23, on two busy cores, on 2026-11-18: the whole script passed, run by a
# new user without root in a fresh clone. 69 searches of the text in 3.5 minutes, 46 tests of the
# crate in 4 minutes (two were skipped for want of root, and passed as root), 5 of the command; 21
# minutes in all, most of them compiling, with most dependencies compiled before.
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD
tools=$top/target/etcd-tools
mkdir -p "$tools"

unpack() { # PACKAGE...
    (cd "$tools" && apt-get download "$@" >/dev/null && for deb in ./*.deb; do dpkg -x "$deb" root; done)
}
if [ -z "${DOORWAY_ETCD_BIN:-}" ]; then
    if ! DOORWAY_ETCD_BIN=$(command -v etcd); then
        [ -x "$tools/root/usr/bin/etcd" ] || unpack etcd-server
        DOORWAY_ETCD_BIN=$tools/root/usr/bin/etcd
    fi
fi
if [ -z "${PROTOC:-}" ] && ! { command -v protoc >/dev/null && [ -e /usr/include/google/protobuf/descriptor.proto ]; }; then
    [ -x "$tools/root/usr/bin/protoc" ] || unpack protobuf-compiler libprotobuf-dev libprotobuf32 libprotoc32
    cat >"$tools/protoc" <<END
#!/bin/sh
LD_LIBRARY_PATH=\$(echo $tools/root/usr/lib/*-linux-gnu) exec $tools/root/usr/bin/protoc -I $tools/root/usr/include "\$@"
END
    chmod +x "$tools/protoc"
    export PROTOC=$tools/protoc
fi
if [ -z "${DOORWAY_FAKETIME:-}" ]; then
    # A wall clock that jumps, for one of the tests.
    find_faketime() { find "$tools" -name libfaketime.so.1 | head -n 1; }
    [ -n "$(find_faketime)" ] || unpack libfaketime
    DOORWAY_FAKETIME=$(find_faketime)
fi
export DOORWAY_ETCD_BIN DOORWAY_FAKETIME
# Here a test that is skipped is an error.
export DOORWAY_ETCD_REQUIRED=1
"$DOORWAY_ETCD_BIN" --version
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$top/target}

# The text, in the sizes that are too large for the tests.
cargo test --release -p doorway-core --test texts leases -- --include-ignored --nocapture --test-threads 1

cd crates/doorway-etcd
cargo fmt --check
cargo clippy --all-targets --all-features -- -D warnings
cargo test --all-features --lib --test etcd -- --nocapture --test-threads 1
cargo test --all-features --doc
RUSTDOCFLAGS="-D warnings" cargo doc --no-deps

# The command with --etcd.
cd "$top"
cargo clippy -p doorway-cli --features etcd --all-targets -- -D warnings
cargo test -p doorway-cli --features etcd --test run_etcd -- --test-threads 1

# The papers' algorithms over registers, and all recipes side by side, briefly. Without --quick, the
# benchmark takes six minutes.
cd crates/doorway-etcd
cargo run --release --example bench -- --quick
data=$(mktemp -d)
"$DOORWAY_ETCD_BIN" --data-dir "$data" --listen-client-urls http://127.0.0.1:23790 \
    --advertise-client-urls http://127.0.0.1:23790 --listen-peer-urls http://127.0.0.1:23800 \
    --initial-advertise-peer-urls http://127.0.0.1:23800 --initial-cluster default=http://127.0.0.1:23800 \
    --unsafe-no-fsync --logger=zap --log-level error &
etcd=$!
trap 'kill $etcd; rm -rf "$data"' EXIT
until curl -sf http://127.0.0.1:23790/health | grep -q true; do sleep 0.1; done
cargo run --example registers -- http://127.0.0.1:23790

#!/usr/bin/env bash
# Does the library compile and work with 32-bit words, without 64-bit atomics, without futexes,
# without an operating system, in Miri, and with the oldest compiler? Takes half an hour on two
# cores. Skips what is not installed, and says so. The last results are in docs/portability.md.
#
#   ci/portable.sh            everything
#   ci/portable.sh check      one part of it: check, cfg, i686, powerpc, miri, oldest, debian
#
# The part `debian` is for machines to which rustup can bring no targets: it unpacks Debian's
# compiler (`rustc-web`) with its standard libraries for other processors, and builds those that
# Debian does not have from their source. It installs nothing.
#
# To run all of it: rustup target add (the targets below); rustup toolchain install 1.88 --profile
# minimal; rustup component add --toolchain nightly miri rust-src; apt install gcc-multilib
# qemu-user gcc-powerpc-linux-gnu.
set -uo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/portable
failed=()
has_target() { [[ -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ]]; }
try() { # what, then a command
    if "${@:2}" > "$CARGO_TARGET_DIR/last.log" 2>&1; then echo "ok       $1"; else
        echo "FAILED   $1: ${*:2}"
        tail -n 30 "$CARGO_TARGET_DIR/last.log"
        failed+=("$1")
    fi
}
skip() { echo "skipped  $1: $2"; }
library=(-p doorway --features lock_api --tests)
emulated=(--test conformance --test slots_size --test peers --test threads)

check() { # compiles
    for target in thumbv7em-none-eabi riscv32imac-unknown-none-elf thumbv6m-none-eabi riscv32imc-unknown-none-elf; do
        if has_target "$target"; then try "check doorway-core, $target" cargo check -p doorway-core --target "$target"; else skip "$target" "not installed"; fi
    done
    if has_target thumbv6m-none-eabi; then
        try "check doorway-core, thumbv6m-none-eabi with critical sections" cargo check -p doorway-core --target thumbv6m-none-eabi --features portable-atomic/critical-section
    fi
    for target in i686-unknown-linux-gnu powerpc-unknown-linux-gnu wasm32-unknown-unknown aarch64-unknown-linux-gnu aarch64-linux-android aarch64-apple-darwin x86_64-pc-windows-gnu x86_64-pc-windows-msvc; do
        if has_target "$target"; then try "check doorway, $target" cargo check -p doorway --features lock_api --target "$target"; else skip "$target" "not installed"; fi
    done
}

cfg() { # on this machine, as if it had no 64-bit atomics and no futexes
    RUSTFLAGS="--cfg doorway_portable" try "test, --cfg doorway_portable" cargo test --no-fail-fast "${library[@]}"
}

i686() { # 32-bit words, on this machine
    has_target i686-unknown-linux-gnu && echo 'int main(void){return 0;}' | gcc -m32 -x c - -o "$CARGO_TARGET_DIR/m32" 2> /dev/null ||
        { skip i686 "no target, or no linker for it"; return; }
    try "test, i686" cargo test --no-fail-fast "${library[@]}" --target i686-unknown-linux-gnu
}

# 32-bit words, big-endian, no 64-bit atomics: portable-atomic takes its locks. Emulated, so not all
# tests run.
powerpc() {
    has_target powerpc-unknown-linux-gnu && command -v qemu-ppc powerpc-linux-gnu-gcc > /dev/null || { skip powerpc "no target, linker or qemu"; return; }
    export CARGO_TARGET_POWERPC_UNKNOWN_LINUX_GNU_LINKER=powerpc-linux-gnu-gcc CARGO_TARGET_POWERPC_UNKNOWN_LINUX_GNU_RUNNER="qemu-ppc -L /usr/powerpc-linux-gnu"
    try "test, powerpc in qemu" cargo test --no-fail-fast -p doorway --target powerpc-unknown-linux-gnu "${emulated[@]}"
}

miri() { # Miri does not know our futexes
    cargo +nightly miri --version > /dev/null 2>&1 || { skip miri "not installed"; return; }
    try "miri" cargo +nightly miri test -p doorway --test miri
}

oldest() { # the compiler that Cargo.toml names
    local version
    version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    rustc "+$version" --version > /dev/null 2>&1 || { skip "rust $version" "not installed"; return; }
    try "check with rust $version" cargo "+$version" check -p doorway-core -p doorway --features doorway/lock_api
}

debian() { # compiles for all targets of `check`, and tests 32-bit words
    command -v apt-get curl dpkg > /dev/null || { skip debian "no apt-get, curl or dpkg"; return; }
    local at=$PWD/$CARGO_TARGET_DIR/debian version pool arch target
    version=$(apt-cache policy rustc-web 2> /dev/null | sed -n 's/^ *Candidate: //p')
    [[ $version && $version != "(none)" ]] || { skip debian "no package rustc-web"; return; }
    pool=http://deb.debian.org/debian-security/pool/updates/main/r/rustc-web
    mkdir -p "$at"
    (
        cd "$at"
        apt-get download rustc-web libstd-rust-web-dev "libstd-rust-web-${version%.*}" rust-web-src libllvm22
        for arch in i386 armhf arm64; do curl -sfLO "$pool/libstd-rust-web-dev_${version}_$arch.deb"; done
        for package in *.deb; do dpkg -x "$package" root; done
        mkdir -p root/usr/lib/rustlib/src
        ln -sfn "$PWD"/root/usr/src/rustc-* root/usr/lib/rustlib/src/rust
    ) > "$CARGO_TARGET_DIR/last.log" 2>&1
    export RUSTC=$at/root/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$at/target
    export LD_LIBRARY_PATH=$at/root/usr/lib/x86_64-linux-gnu
    mkdir -p "$CARGO_TARGET_DIR"
    "$RUSTC" --version || { skip debian "its compiler does not run"; return; }
    for target in i686-unknown-linux-gnu armv7-unknown-linux-gnueabihf aarch64-unknown-linux-gnu; do
        try "check doorway, $target" cargo check -p doorway --features lock_api --target "$target"
    done
    for target in thumbv7em-none-eabi riscv32imac-unknown-none-elf thumbv6m-none-eabi riscv32imc-unknown-none-elf; do
        try "check doorway-core, $target" cargo check -p doorway-core --target "$target" -Zbuild-std=core,alloc
    done
    try "check doorway-core, thumbv6m-none-eabi with critical sections" cargo check -p doorway-core --target thumbv6m-none-eabi --features portable-atomic/critical-section -Zbuild-std=core,alloc
    for target in powerpc-unknown-linux-gnu wasm32-unknown-unknown aarch64-linux-android aarch64-apple-darwin x86_64-pc-windows-gnu x86_64-pc-windows-msvc; do
        try "check doorway, $target" cargo check -p doorway --features lock_api --target "$target" -Zbuild-std=std,panic_abort
    done
    if echo 'int main(void){return 0;}' | gcc -m32 -x c - -o "$CARGO_TARGET_DIR/m32" 2> /dev/null; then
        try "test, i686" cargo test --no-fail-fast "${library[@]}" --target i686-unknown-linux-gnu
    else skip "tests on i686" "no linker"; fi
    if command -v arm-linux-gnueabihf-gcc qemu-arm > /dev/null; then
        export CARGO_TARGET_ARMV7_UNKNOWN_LINUX_GNUEABIHF_LINKER=arm-linux-gnueabihf-gcc CARGO_TARGET_ARMV7_UNKNOWN_LINUX_GNUEABIHF_RUNNER="qemu-arm -L /usr/arm-linux-gnueabihf"
        try "test, armv7 in qemu" cargo test --no-fail-fast -p doorway --target armv7-unknown-linux-gnueabihf "${emulated[@]}"
    else skip "tests on armv7" "no linker or qemu"; fi
}

mkdir -p "$CARGO_TARGET_DIR"
for part in ${@:-check cfg i686 powerpc miri oldest}; do "$part"; done
if ((${#failed[@]})); then echo "${#failed[@]} failed" >&2; exit 1; fi

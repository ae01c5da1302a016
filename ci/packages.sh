#!/usr/bin/env bash
# Makes packages for people without Rust, under target/packages, and tries each in a clean place:
#   doorway-VERSION-MACHINE-linux.tar.gz   one static binary, manual pages, completions
#   doorway_VERSION_ARCH.deb               the same, for Debian and its derivatives
#   doorway-VERSION-py3-none-….whl         the same binary, for `pip install`
# Needs a C library to link statically (Debian's libc6-dev has it), python3 with venv, and dpkg.
# Installs `cargo-deb` and `maturin` under target/, not for the user.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(cargo metadata --no-deps --format-version 1 |
    python3 -c 'import json,sys; print(next(p["version"] for p in json.load(sys.stdin)["packages"] if p["name"] == "doorway-cli"))')
machine=$(uname -m)
target=$machine-unknown-linux-gnu
tools=$PWD/target/package-tools
out=$PWD/target/packages
rm -rf "$out"
mkdir -p "$out" "$tools"

# One binary serves all three packages. It is linked statically, so that it runs with any C library.
# It has a fixed address, so that half a megabyte of pointers need not be adjusted at each start.
export CARGO_TARGET_DIR=$PWD/target
export RUSTFLAGS="-C target-feature=+crt-static -C relocation-model=static"
cargo build --locked --profile dist --target "$target" -p doorway-cli
binary=$CARGO_TARGET_DIR/$target/dist/doorway
if ldd "$binary" 2>/dev/null | grep -q '=>'; then
    echo "the binary is not static:" && ldd "$binary" && exit 1
fi

# The manual pages and completions come out of the binary itself.
tree=$out/doorway-$version-$machine-linux
mkdir -p "$tree/man" "$tree/completions"
cp "$binary" "$tree/doorway"
cp LICENSE-MIT LICENSE-APACHE README.md CHANGELOG.md docs/command.md "$tree/"
"$binary" man "$tree/man"
"$binary" completions bash >"$tree/completions/doorway.bash"
"$binary" completions zsh >"$tree/completions/_doorway"
"$binary" completions fish >"$tree/completions/doorway.fish"
tar -C "$out" --owner=0 --group=0 --sort=name -czf "$tree.tar.gz" "$(basename "$tree")"

[ -x "$tools/bin/cargo-deb" ] || RUSTFLAGS='' cargo install --quiet --locked --root "$tools" cargo-deb
# Here `package.metadata.deb` finds the files that cargo does not build.
rm -rf target/package-files
cp -r "$tree" target/package-files
gzip -9n target/package-files/man/*
"$tools/bin/cargo-deb" -p doorway-cli --profile dist --target "$target" --no-build --no-strip -o "$out"

[ -x "$tools/venv/bin/maturin" ] || { python3 -m venv "$tools/venv" && "$tools/venv/bin/pip" install --quiet 'maturin>=1.7,<2'; }
"$tools/venv/bin/maturin" build --quiet --locked --profile dist --target "$target" \
    --compatibility linux --manifest-path crates/doorway-cli/Cargo.toml --out "$out"
rm -rf "$tree"

ls -l "$out"
ci/try-packages.sh "$out"

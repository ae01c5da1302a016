#!/usr/bin/env bash
# Tries what publishing would do, without publishing: makes the packages, compiles each from its own
# sources, and runs their tests from there.
set -euo pipefail
cd "$(dirname "$0")/.."

# In the order in which each needs those before it.
packages=(doorway-core doorway-derive doorway-check doorway doorway-cli)
chosen=()
for package in "${packages[@]}"; do chosen+=(-p "$package"); done

# An optional dependency of the command, and a workspace of its own: ci/etcd.sh tests it. It is
# published after doorway-core, from its own folder.
beside=(--config 'patch.crates-io.doorway-etcd.path="crates/doorway-etcd"')
cargo publish --dry-run "${beside[@]}" "${chosen[@]}" "$@"
cargo package --quiet --no-verify "${beside[@]}" "${chosen[@]}" "$@"

# The packaged sources, unpacked, as one workspace that has nothing else.
unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
version=$(cargo pkgid -p doorway-core | sed 's/.*[#@]//')
{
    echo '[workspace]'
    echo 'resolver = "3"'
    echo 'members = ["*-'"$version"'"]'
    echo '[patch.crates-io]'
    for package in "${packages[@]}"; do echo "$package = { path = \"$package-$version\" }"; done
    echo 'doorway-etcd = { path = "doorway-etcd" }'
} > "$unpacked/Cargo.toml"
# Its sources as they are, but they too depend on the packaged doorway-core: one workspace cannot
# have two.
cp -r crates/doorway-etcd "$unpacked/doorway-etcd"
rm -rf "$unpacked/doorway-etcd/target"
sed -i 's|path = "../doorway-core"|path = "../doorway-core-'"$version"'"|' "$unpacked/doorway-etcd/Cargo.toml"
# With -m files are new. In a package all have the same old date, and cargo would take what an
# earlier run of this script has compiled for the result of these sources.
for package in "${packages[@]}"; do
    tar -xzmf "target/package/$package-$version.crate" -C "$unpacked"
    for file in README.md LICENSE-MIT LICENSE-APACHE; do
        test -s "$unpacked/$package-$version/$file" || { echo "$package has no $file"; exit 1; }
    done
done
cp Cargo.lock "$unpacked"
CARGO_TARGET_DIR="$PWD/target/published" cargo test --manifest-path "$unpacked/Cargo.toml" --workspace

if grep -q 'repository = ".*\.invalid' Cargo.toml; then
    echo "to publish, set the repository in Cargo.toml to the place where the sources are"
    exit 0
fi
echo "all is well: cargo publish ${chosen[*]}"

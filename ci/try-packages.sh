#!/usr/bin/env bash
# Tries the packages of ci/packages.sh as their users would: in a clean environment, as another
# user, in a root directory that has nothing else in it, and installed by dpkg and by pip.
set -euo pipefail
out=$(realpath "${1:-$(dirname "$0")/../target/packages}")
scratch=$(mktemp -d /tmp/doorway-packages.XXXXXX)
chmod 755 "$scratch"
trap 'rm -rf "$scratch"' EXIT

# A package must run a command in a slot, tell it which slot, pass its exit code on, and show no
# holder afterwards. The arguments say how to start it; each try has a new name.
try() {
    local what=$1 name=try-$$-$RANDOM
    shift
    local said status=0
    said=$("$@" run -n 2 "$name" -- /bin/sh -c 'echo "slot $DOORWAY_SLOT"; exit 7') || status=$?
    [ "$said" = "slot 0" ] && [ $status = 7 ] || { echo "$what: said '$said', exit code $status" && exit 1; }
    "$@" status "$name" --json | grep -q '"holders": *\[\]'
    "$@" rm "$name" >/dev/null
    echo "$what: works"
}

tar -C "$scratch" -xzf "$out"/doorway-*.tar.gz
binary=$(echo "$scratch"/doorway-*/doorway)
try "the tarball, with an empty environment" env -i "$binary"
if [ "$(id -u)" = 0 ]; then
    try "the tarball, as another user" setpriv --reuid=65534 --regid=65534 --clear-groups env -i "$binary"
fi

# A root directory with the binary, a shell to run, and a directory that all users may write.
root=$scratch/root
mkdir -p "$root"/{bin,tmp,proc,dev}
chmod 1777 "$root/tmp"
cp "$binary" "$root/bin/doorway"
cp /bin/sh "$root/bin/sh"
ldd /bin/sh | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
done
if unshare --map-root-user --mount --pid --fork true 2>/dev/null; then
    try "the tarball, in a root directory of its own" unshare --map-root-user --mount --pid --fork \
        sh -c 'mount -t proc none "$0/proc" && exec chroot "$0" /bin/doorway "$@"' "$root"
else
    echo "the tarball, in a root directory of its own: SKIPPED, no user namespaces here"
fi

mkdir "$scratch/deb"
dpkg-deb -x "$out"/doorway_*.deb "$scratch/deb"
try "the deb, unpacked" env -i "$scratch/deb/usr/bin/doorway"
for file in usr/share/man/man1/doorway.1.gz usr/share/man/man1/doorway-run.1.gz \
    usr/share/bash-completion/completions/doorway usr/share/zsh/vendor-completions/_doorway \
    usr/share/fish/vendor_completions.d/doorway.fish usr/share/doc/doorway/copyright; do
    [ -s "$scratch/deb/$file" ] || { echo "the deb has no $file" && exit 1; }
done
if [ "$(id -u)" = 0 ] && ! dpkg -s doorway >/dev/null 2>&1; then
    dpkg -i "$out"/doorway_*.deb >/dev/null
    trap 'dpkg -r doorway >/dev/null; rm -rf "$scratch"' EXIT
    try "the deb, installed" env -i PATH=/usr/bin:/bin doorway
fi

python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --no-index "$out"/doorway-*.whl
try "the wheel, installed by pip" env -i "$scratch/venv/bin/doorway"

#!/bin/sh
# Tries `doorway jobserver` with a client that is not installed everywhere: ninja 1.13 or later,
# from PyPI, alone and beside make. Needs python3 with venv and pip, and a network. Prints what it
# tried; the last result is in crates/doorway-lab/records. Exit code: 0 all works; 1 something does
# not; 77 ninja could not be installed, so nothing was tried.
set -u
cd "$(dirname "$0")/.." || exit 1
place=$(mktemp -d) || exit 1
trap 'rm -rf "$place"' EXIT
cargo build -q -p doorway-cli || exit 1
doorway=${CARGO_TARGET_DIR:-target}/debug/doorway
doorway=$(cd "$(dirname "$doorway")" && pwd)/doorway
export DOORWAY_DIR="$place/names"
unset MAKEFLAGS CARGO_MAKEFLAGS MFLAGS MAKELEVEL

if ! python3 -m venv "$place/venv" || ! "$place/venv/bin/pip" install -q 'ninja>=1.13' 2> "$place/pip"; then
    cat "$place/pip" 2> /dev/null
    echo "SKIPPED, NOTHING WAS TRIED: ninja >= 1.13 cannot be installed by pip" >&2
    exit 77
fi
ninja=$place/venv/bin/ninja
echo "ninja $("$ninja" --version), $(cargo --version), $(make --version | head -n 1), $(gcc --version | head -n 1)"

failures=0
check() { # what, whether
    if [ "$2" -eq 0 ]; then echo "ok    $1"; else echo "WRONG $1"; failures=$((failures + 1)); fi
}
holders() {
    "$doorway" status "$1" --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["files"][0]["holders"]))'
}

# Twelve jobs. Each counts the jobs that run beside it: making a directory is atomic.
mkdir "$place/build"
cd "$place/build" || exit 1
cat > job.sh <<'JOB'
mkdir -p "$COUNT" && mkdir "$COUNT/$$"
ls "$COUNT" | wc -l >> "$COUNT.seen"
sleep 0.1
rmdir "$COUNT/$$"
touch "$1"
JOB
{
    echo 'rule job'
    echo '  command = sh job.sh $out'
    for job in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "build out$job: job"; done
} > build.ninja
most() { sort -n "$1.seen" | tail -n 1; }
fresh() { rm -rf out* "$1" "$1.seen" .ninja_log .ninja_deps; export COUNT="$place/build/$1"; }

for slots in 1 2 3; do
    fresh "alone$slots"
    "$doorway" jobserver -n "$slots" -- "$ninja" > log 2>&1 || cat log
    [ "$(most "alone$slots")" -le "$slots" ] && [ -e out12 ]; check "ninja, $slots slots of its own: at most $(most "alone$slots") jobs" $?
done
fresh told
"$doorway" jobserver -n 2 -- "$ninja" -j9 > log 2>&1 || cat log
[ "$(most told)" -le 2 ]; check "ninja -j9, 2 slots: at most $(most told) jobs" $?

# Two builds with one name, by different clients.
fresh both
cat > Makefile <<'MAKE'
jobs = $(foreach job,1 2 3 4 5 6 7 8,make$(job))
all: $(jobs)
$(jobs):
	sh job.sh out-$@
MAKE
"$doorway" jobserver -n 3 cores -- "$ninja" > log1 2>&1 & first=$!
"$doorway" jobserver -n 3 cores -- make > log2 2>&1 & second=$!
wait $first && wait $second; check "ninja and make with one name end" $?
[ "$(most both)" -le 3 ]; check "ninja and make, 3 slots of one name: at most $(most both) jobs" $?
[ "$(holders cores)" -eq 0 ]; check "all slots are back" $?

# Killed in the middle.
fresh killed
"$doorway" jobserver -n 3 cores --orphans kill -- "$ninja" > log 2>&1 & build=$!
while [ ! -s killed.seen ]; do sleep 0.05; done
kill -KILL $build
tries=0
while [ "$(holders cores)" -ne 0 ] && [ $tries -lt 200 ]; do sleep 0.05; tries=$((tries + 1)); done
[ "$(holders cores)" -eq 0 ]; check "ninja killed in the middle: all slots are back" $?

echo "$failures wrong"
[ "$failures" -eq 0 ]

#!/usr/bin/env bash
# Compares the CPU time of `doorway run … true` with `flock(1)` and plain `true`, by turns: user and
# system time of all processes together. The first argument is the number of runs of each, the
# second is the number of rounds. DOORWAY names another binary. Takes some seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -n "${DOORWAY:-}" ] || cargo build --quiet --release -p doorway-cli
directory=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$directory"' EXIT
uname -sr
flock --version
DOORWAY_DIR=$directory python3 - "${1:-100}" "${2:-9}" "$directory" "${DOORWAY:-target/release/doorway}" <<'PYTHON'
import os, resource, statistics, subprocess, sys

runs, rounds, directory, doorway = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], os.path.abspath(sys.argv[4])
commands = {
    "true": ["/bin/true"],
    "flock x true": ["/usr/bin/flock", directory + "/lock", "/bin/true"],
    "doorway run -n 1 x true": [doorway, "run", "-n", "1", "x", "--", "/bin/true"],
    "  --orphans release": [doorway, "run", "-n", "1", "x", "--orphans", "release", "--", "/bin/true"],
    "  --orphans kill": [doorway, "run", "-n", "1", "x", "--orphans", "kill", "--", "/bin/true"],
}

def cost(command):
    """Milliseconds for one run. Each parent waits for its child, so all processes count."""
    script = 'i=0; while [ $i -lt %d ]; do "$@"; i=$((i+1)); done' % runs
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["sh", "-c", script, "sh", *command], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / runs

taken = {name: [] for name in commands}
for _ in range(rounds):
    for name, command in commands.items():
        taken[name].append(cost(command))
flock = statistics.median(taken["flock x true"])
print(f"CPU time of one run, ms: median of {rounds} rounds of {runs} runs (range)")
for name, times in taken.items():
    middle = statistics.median(times)
    print(f"{name:26}{middle:7.3f}  ({min(times):.3f}-{max(times):.3f}){middle / flock:7.2f} of flock")
PYTHON
